// Marks without a meaning at the end of a text. Models end their turn with some of them, and servers
// may leave them there. A cut text may break off in any mark.

const marks = [
  '<|im_end|> <|eot_id|> <|eom_id|> <|endoftext|> <|end_of_text|> <|return|> <end_of_turn> </s>',
  '<|eot|> <|eom|>', // Llama 4
  '<|end|>', // harmony, Phi
  '<|END_OF_TURN_TOKEN|>', // Command
  '<|message_sep|>', // GigaChat
  '<|close|>message<|sep|> <|end_of_msg|>', // Kimi K3
  '<turn|> <|tool_response> <start_function_response>', // Gemma begins the result that it waits for
  '[e~[', // MiniMax
  '<seed:eos>',
]
  .flatMap((list) => list.split(' '))
  .concat(
    ['▁', ' ', '_', '\\_'].flatMap((blank) => [
      `<｜end${blank}of${blank}sentence｜>`,
      `<|end${blank}of${blank}sentence|>`,
    ]),
  )

/** The text without such marks at its end, and without blanks around it. */
export function withoutTurnEnd(text: string): string {
  const from = text.length - text.trimStart().length
  let end = text.trimEnd().length
  for (;;) {
    const mark = marks.find((one) => text.endsWith(one, end) && end - one.length >= from)
    if (mark === undefined) return text.slice(from, Math.max(end, from))
    end -= mark.length
    while (end > from && /\s/.test(text[end - 1] ?? '')) end -= 1
  }
}

const brokenMark =
  /(?:<\|close\|>\w{0,16}(?:<[^>\n]{0,8})?|\]?<\]?[^>\n]{0,80}|\[[A-Z_]{0,16}|\n[`~]{1,2})$/

/** A text that was cut, without the mark in which it breaks off. */
export function withoutBrokenMark(text: string): string {
  const length = brokenMark.exec(text.slice(-96))?.[0].length ?? 0
  return text.slice(0, text.length - length)
}
