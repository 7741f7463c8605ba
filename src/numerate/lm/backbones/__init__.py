"""What reads text: paragraphs in, states before numerals and probabilities of words out."""
