"""Image classification: the data, the network, the transforms and the figures that its scripts share."""
