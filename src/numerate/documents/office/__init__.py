"""Word documents and workbooks: packages of XML, of which nothing is run or fetched."""
