"""Texts and what cuts them into pieces: the own corpus, Multi30k, vocabularies, byte pairs, masks."""
