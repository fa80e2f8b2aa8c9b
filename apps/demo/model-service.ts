// `weir demo-model`: serves the scripted models, for weir ask without a key, and for gateways in
// other containers. The request's model selects one: `reflex` or `stubborn`.

import { usageError } from '../../shared/lib/errors.ts'
import { refuseTaken, writeWhole } from '../../shared/lib/files/whole-file.ts'
import { listenForInterrupts } from '../terminal/interrupts.ts'
import { ownCommand, shellWord } from '../terminal/own-command.ts'
import { portOf } from '../terminal/port-flag.ts'
import { printable } from '../terminal/text/printable.ts'
import { demoAgentFile, question } from './agent.ts'
import { startAnthropicServer } from './anthropic-server.ts'
import { type BadModel, badModels, reflexModel, thinkingMs } from './reflex-model.ts'

/** `agent`: an agent file to write, which uses this model. */
export type ModelOptions = {
  host: string
  port: string
  agent?: string
  bad: BadModel
  force?: boolean
}

/** Runs until a signal. Throws `usage` if it cannot listen, `output.*` for the agent file. */
export async function serveModel(
  { host, port, agent, bad, force = false }: ModelOptions,
  out: NodeJS.WriteStream,
): Promise<void> {
  if (agent !== undefined) refuseTaken(agent, { force })
  const stop = Promise.withResolvers<void>()
  const at = { host, port: portOf(port) }
  const server = await startAnthropicServer(
    (call, number) => {
      server.requests.length = 0 // the service may run for long: keep no requests
      return reflexModel(badModels.find((bad) => bad === call.model) ?? 'reflex')(call, number)
    },
    thinkingMs,
    at,
  ).catch((cause: unknown) => {
    throw usageError(`the demo's model cannot listen on ${host}, port ${port}: ${String(cause)}`, {
      cause,
    })
  })
  const stopListening = listenForInterrupts(() => stop.resolve())
  try {
    out.write(`${server.url}\n`)
    if (agent !== undefined) {
      await writeWhole(agent, [demoAgentFile(server.url, bad)], { force })
      out.write(next(agent))
    }
    await stop.promise
  } finally {
    stopListening()
    await server.close()
  }
}

function next(agent: string): string {
  const weir = ownCommand(process.env, process.cwd())
  const steps = [
    `${weir} ask --agent ${shellWord(agent)} ${shellWord(question)}`,
    `${weir} export -o asked.weir`,
    `${weir} replay asked.weir`,
    `${weir} report asked.weir -o asked.html`,
  ]
  return `\nNext, in another terminal; Ctrl-C here ends the model:\n${steps.map((step) => `  ${printable(step)}\n`).join('')}`
}
