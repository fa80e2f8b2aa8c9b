// Clients of other makers against `weir serve`: the official client of OpenAI and litellm, in Python.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Result } from './cases/case.ts'
import { openHostFolder } from './host-run.ts'
import { installed, type PythonPackages } from './installed-hosts.ts'
import { type ScriptedAnswer, type SeenRequest, startModelServer } from './model-server.ts'
import { startServe } from './weir-process.ts'

type Block = { type: string; text?: string }

/** The checks that held. `fault`: the first that did not. */
export async function runServedClient(packages: PythonPackages, file: string): Promise<Result> {
  const python = await installed(packages)
  const model = await startModelServer(answerOf)
  const folder = await openHostFolder()
  try {
    await writeFile(join(folder.work, 'helper.yaml'), agentFile(model.url))
    const rules = join(folder.work, 'rules.json')
    await writeFile(rules, JSON.stringify({ rules: [{ name: 'ask-first', tools: ['deploy'] }] }))
    const weir = await startServe(join(folder.work, 'helper.yaml'))
    try {
      await weir.weir('approvals', 'rules', rules)
      const script = join(import.meta.dirname, 'python', `${file}.py`)
      const { ended } = folder.start(python, ['-W', 'ignore', script, `${weir.url}/v1`], {})
      const { code, out, errors } = await ended
      const found = out.trim().replace(/,$/, '')
      return { found, fault: code === 0 ? undefined : errors.slice(-500) }
    } finally {
      await weir.close()
    }
  } finally {
    await folder.close()
    await model.close()
  }
}

const agentFile = (url: string) => `name: helper
system: Help.
model: { provider: anthropic, name: scripted, baseUrl: '${url}', maxOutputTokens: 1000 }
tools:
  - { name: clock, description: tells the time, schema: { type: object }, command: [printf, noon] }
  - { name: deploy, description: deploys, schema: { type: object }, command: [printf, deployed] }
  - { name: seat, description: picks a seat, schema: { type: object }, client: true, timeoutMs: 90000 }
  - { name: wait, description: waits, schema: { type: object }, command: [sleep, '60'], timeoutMs: 90000 }
`

const calls: Record<string, { tool: string; text: string }> = {
  'What time is it?': { tool: 'clock', text: 'It is noon.' },
  'Deploy it.': { tool: 'deploy', text: 'It is live.' },
  'A seat, please.': { tool: 'seat', text: '14A it is.' },
  'Wait.': { tool: 'wait', text: 'I waited.' },
}

/** Calls the tool of the newest text of the user, and answers after its result. */
function answerOf({ body }: SeenRequest): ScriptedAnswer {
  const messages = body.messages as { role: string; content: string | Block[] }[]
  const blocks = messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) =>
      typeof content === 'string' ? [{ type: 'text', text: content }] : content,
    )
  const newest = blocks.findLast(({ type }) => type === 'text')?.text ?? ''
  const known = calls[newest]
  if (known === undefined) return { text: 'Here.' }
  const { tool, text } = known
  const isAnswered = blocks.at(-1)?.type === 'tool_result'
  return isAnswered ? { text } : { calls: [{ name: tool, input: '{}' }] }
}
