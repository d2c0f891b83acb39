"""Commands that train, evaluate and choose models."""
