"""Every document of a corpus checked: findings as Parquet, a summary, a page to browse them."""
