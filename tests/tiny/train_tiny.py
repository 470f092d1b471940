"""Train the tiny Llama of the tests and write it as a Hugging Face directory and as GGUF.

    python -m tests.tiny.train_tiny [FOLDER]

One thread and a fixed number of steps, so that it can be made again: about four minutes on a quiet core.
"""

import argparse
import random
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tests.tiny.corpus import SEED, Example, as_json, fact_examples, retrieved, training_sentences
from tests.tiny.gguf_file import write_gguf

STEPS = 2_500
BATCH = 24
VOCABULARY = 512
CONTEXT = 512
SPECIAL = ("<|bos|>", "<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>")
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
FOLDER = Path(__file__).parent / "model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    tokenizer = make_tokenizer()
    model = train(tokenizer)
    # The half-precision weights are the model: every other form is made from them.
    model.half().save_pretrained(folder / "hf")
    tokenizer.save_pretrained(folder / "hf")
    for kind in ("F16", "Q8_0"):
        write_gguf(folder / "hf", folder / f"tiny-{kind}.gguf", kind)


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE of 512 tokens, with `Yes`, ` Yes`, `No` and ` No` among them."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    chance = random.Random(SEED)
    texts = [text for example in _examples(chance, 2_000) for text in (example.prompt, example.answer)]
    bare.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bare,
        bos_token="<|bos|>",
        eos_token="<|end|>",
        pad_token="<|pad|>",
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT,
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def train(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Learn the answers (only they count in the loss)."""
    torch.manual_seed(SEED)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        initializer_range=0.06,  # the usual 0.02 learns none of this in so few steps
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=STEPS, pct_start=0.05)
    chance = random.Random(SEED)
    for step in range(STEPS):
        ids, labels = _batch(tokenizer, _examples(chance, BATCH))
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        if step % 100 == 0 or step == STEPS - 1:
            print(f"step {step}: loss {loss.item():.4f}", file=sys.stderr, flush=True)
    return model.eval()


def _examples(chance: random.Random, count: int) -> list[Example]:
    """Half facts, half extraction."""
    known = fact_examples()
    chosen = chance.choices(known, k=count // 2)
    for place in range(count - len(chosen)):
        text, spans = training_sentences(chance)
        chosen.append((as_json if place % 3 else retrieved)(text, spans))
    return chosen


def _batch(tokenizer: PreTrainedTokenizerFast, examples: list[Example]) -> tuple[torch.Tensor, torch.Tensor]:
    rows = []
    for example in examples:
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": example.prompt}], add_generation_prompt=True, return_dict=False
        )
        rows.append((prompt, [*tokenizer.encode(example.answer), tokenizer.eos_token_id]))
    longest = max(len(prompt) + len(answer) for prompt, answer in rows)
    ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
    labels = torch.full((len(rows), longest), -100)
    for row, (prompt, answer) in enumerate(rows):
        end = len(prompt) + len(answer)
        ids[row, :end] = torch.tensor([*prompt, *answer])
        labels[row, len(prompt) : end] = torch.tensor(answer)
    return ids, labels


if __name__ == "__main__":
    main()
