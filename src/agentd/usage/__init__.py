"""What agent calls use and cost: records, prices, the project's ledger, forecasts and limits. No file is read or written here."""
