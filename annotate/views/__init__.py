"""The pages: each fetches, shows and records. No query, no formula, no markup."""
