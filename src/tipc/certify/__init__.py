"""Run to Verdict: the checks, each with an id, evidence and a remedy."""
