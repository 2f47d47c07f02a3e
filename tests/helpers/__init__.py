"""What several test modules need: small problems and rule lists, the oracle, databases, the command line."""
