"""What all workers share: settings, the log, mailboxes, acks, the sender, claims, control, health, logs."""
