"""What a plan is made for: the device, the interpreter, the machine."""
