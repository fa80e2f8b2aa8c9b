// The output of a command, without the frame in which its host wraps it: the header of Codex, a JSON
// object with `output`, the labelled lines of Gemini CLI.

import { codexResult } from '../../../shared/contract/codex-header.ts'
import { isObject, jsonIn } from '../../../shared/lib/json/json-object.ts'

const labelled =
  /^(?:Command: [\s\S]{0,1000}?\nDirectory: [^\n]{0,300}\n)?(?:Stdout|Output): ([\s\S]*?)\n(?:Stderr: \(empty\)|Process Group PGID: \d)/

export function commandOutput(text: string): string {
  if (text.startsWith('{"output"')) {
    const json = jsonIn(text)
    if (isObject(json) && typeof json.output === 'string') return json.output
  }
  const [, printed] = labelled.exec(text) ?? []
  return printed?.replace(/^\(empty\)$/, '') ?? codexResult(text)?.output ?? text
}
