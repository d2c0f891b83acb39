"""Pretraining: decoders as teachers, distillation into the text encoder, probes of the result."""
