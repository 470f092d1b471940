"""What a model's answer becomes without the evidence that is marked in the text (ERASER; DeYoung and others 2020)."""
