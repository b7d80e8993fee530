"""Config × mode × machine to Plan: a graph of Steps, and what is left out with its reason."""
