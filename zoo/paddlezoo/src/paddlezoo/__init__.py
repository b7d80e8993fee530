"""What the two model zoos share: checkpoints, training log, mixed precision, PACT, export, predictor,
pictures.

Nothing is imported here, so that a script which only reads its arguments does not pay for paddle.
"""
