"""Orders, contracts, invoices and confirmations with dense panels of keys and values."""
