"""PACT: quantisation-aware training with a learnt clip a layer, and the way from there to real int8."""
