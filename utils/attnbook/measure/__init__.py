"""How good a model is, and what it does inside: measures of text, translations, pictures, gradients and heads."""
