"""What people do with a trained model: predict a number, rank claims, check a document."""
