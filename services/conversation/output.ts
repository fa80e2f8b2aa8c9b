// The output of a turn: a reply that is JSON and fits the schema of its message. Judged like the
// arguments of a call, by the same compiled schemas.
// The reply is the judged text. A fence around it is no part of it.

import { compiledSchema, type Judgement } from '../../shared/contract/arguments/compiled-schema.ts'
import { schemaFault } from '../../shared/contract/arguments/schema-fault.ts'
import { limits } from '../../shared/contract/limits.ts'
import { jsonFault } from '../../shared/lib/json/json-fault.ts'
import { shortened } from '../../shared/lib/text-cut.ts'

/** `problem`: completes "the reply is not the required output: ". */
export type JudgedOutput = { text: string } | { problem: string }

export function judgedOutput(reply: string, schema: string): JudgedOutput {
  const text = withoutFence(reply.trim())
  if (jsonFault(text, limits.argumentDepthMax) !== undefined)
    return { problem: 'it is not one JSON value' }
  const compiled = compiledSchema(schema)
  if (compiled.kind === 'unusable') return { problem: `its schema is unusable: ${compiled.reason}` }
  const value: unknown = JSON.parse(text)
  const judgement =
    text.length <= explainedCharactersMax ? compiled.explain(value) : compiled.judge(value)
  const problem = problemIn(judgement)
  return problem === undefined ? { text } : { problem }
}

const explainedCharactersMax = 16_384
const problemsMax = 5

function problemIn(judgement: Judgement): string | undefined {
  switch (judgement.kind) {
    case 'valid':
      return undefined
    case 'invalid': {
      const words = judgement.errors.map((error) => schemaFault(error).words)
      return shortened([...new Set(words)].slice(0, problemsMax).join('; '), limits.reasonBytesMax)
    }
    case 'text-too-long':
      return `a text of more than ${limits.patternTextMax} characters cannot be checked against its pattern`
    case 'unjudged':
      return shortened(`it cannot be judged: ${judgement.reason}`, limits.reasonBytesMax)
  }
}

/** Models often write a code fence around JSON, even if they must not. */
function withoutFence(text: string): string {
  return /^```(?:json)?[ \t]*\n([\s\S]*)\n```$/.exec(text)?.[1]?.trim() ?? text
}
