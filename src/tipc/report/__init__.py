"""What people, CI servers and documents read of a Run and its Verdict."""
