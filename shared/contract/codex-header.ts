// The header that Codex writes above the output of a command. A history does not name its host, so
// only this exact shape counts.

/** `ending`: the line that says how the command ended; empty: it does not say. `code`: its exit code. */
export type CodexResult = { ending: string; code: number | undefined; output: string }

const header =
  /^(?:Chunk ID: \w{1,32}\n)?(?:(Exit code: (-?\d{1,10}))\n)?Wall time: [\d.]{1,16} seconds\n(?:(Process exited with code (-?\d{1,10}))\n|Process running with session ID \d{1,16}\n)?(?:Original token count: \d{1,16}\n)?(?:Total output lines: \d{1,16}\n)?Output:(?:\n|$)/

/** Undefined: the text does not begin with such a header. */
export function codexResult(text: string): CodexResult | undefined {
  const found = header.exec(text.slice(0, headerCharsMax))
  if (found === null) return undefined
  const [whole, older, olderCode, ending = older ?? '', code = olderCode] = found
  return {
    ending,
    code: code === undefined ? undefined : Number(code),
    output: text.slice(whole.length),
  }
}

const headerCharsMax = 256
