"""From what a script was seen to call to a plan."""
