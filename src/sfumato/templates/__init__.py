"""The HTML templates of cards, reports, the demo and answers, and the function that fills them."""
