// `weir demo-model`: the scripted models as a service, where the gateway that asks them runs in another container. Which one plays says the request's
// model: `reflex` or `stubborn`.

import { WeirError } from '../../../shared/errors.ts'
import { listenForInterrupts } from '../interrupts.ts'
import { startAnthropicServer } from './anthropic-server.ts'
import { badModels, reflexModel, thinkingMs } from './reflex-model.ts'

/** Until a signal comes. Throws `usage` where it cannot listen. */
export async function serveModel({ host, port }: { host: string; port: string }, out: NodeJS.WriteStream): Promise<void> {
  const stop = Promise.withResolvers<void>()
  const at = { host, port: portOf(port) }
  const server = await startAnthropicServer(
    (call, number) => {
      server.requests.length = 0 // it runs for as long as anybody likes
      return reflexModel(badModels.find((bad) => bad === call.model) ?? 'reflex')(call, number)
    },
    thinkingMs,
    at,
  ).catch((cause: unknown) => {
    throw new WeirError('usage', `the demo's model cannot listen on ${host}, port ${port}: ${String(cause)}`, { cause })
  })
  const stopListening = listenForInterrupts(() => stop.resolve())
  out.write(`${server.url}\n`)
  await stop.promise
  stopListening()
  await server.close()
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new WeirError('usage', `--port is ${JSON.stringify(text)}; must be a whole number from 0 to 65535`)
}
