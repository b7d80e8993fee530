"""What happened, kept on disk: the journal, the store, the locks."""
