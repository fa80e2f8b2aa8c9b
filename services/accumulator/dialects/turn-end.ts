// The marks with which models end their turn, if a server leaves them in the text. They have no
// meaning.

const marks = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|endoftext|>',
  '<|return|>',
  '<end_of_turn>',
  '<turn|>',
  '<｜end▁of▁sentence｜>',
  '</s>',
]

/** The text without such a mark at its end, and without blanks around it. */
export function withoutTurnEnd(text: string): string {
  const trimmed = text.trim()
  const mark = marks.find((end) => trimmed.endsWith(end))
  return mark === undefined ? trimmed : trimmed.slice(0, -mark.length).trimEnd()
}
