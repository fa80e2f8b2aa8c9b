// A chat for the users of a site: live cards of the agent's calls, and the history of each user.

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { always, call, says, scriptedModel } from '../../client/testing/testing.ts'
import { anthropic, defineAgent, defineTool, type TurnEvent, Weir } from '../../client/weir.ts'

const orders = new Map([
  ['ada', ['2 chairs to Ulm']],
  ['bob', ['1 lamp to Paris']],
])
const weather = defineTool({
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: z.object({ city: z.string() }),
  run: async ({ city }) => `18 °C and rain in ${city}`,
})
const listOrders = defineTool({
  name: 'list_orders',
  description: 'The orders of the user',
  parameters: z.object({}),
  needsContext: z.object({ user: z.string() }),
  run: async (_, { context }) => orders.get(context.user)?.join('\n') ?? 'No orders.',
})

// Answers without a provider, so that you can build the page before you have a key.
const practice = scriptedModel(
  always(({ newResults, texts }) => {
    const question = texts.at(-1) ?? ''
    if (newResults.length > 0) return says(`I found this: ${newResults.join(', ')}.`)
    if (question.includes('order')) return says('I look.', call('list_orders'))
    return says('I look.', call('get_weather', { city: question.match(/in (\w+)/)?.[1] ?? 'Ulm' }))
  }),
)
const hasKey = process.env.ANTHROPIC_API_KEY !== undefined
const agent = defineAgent({
  name: 'helper',
  model: hasKey ? anthropic('claude-sonnet-5-5') : practice,
  system: 'You help the customers of a shop.',
  tools: [weather, listOrders],
})
const weir = await Weir.open({ agents: [agent] })

const passwords = new Map([
  ['ada', 'secret-of-ada'],
  ['bob', 'secret-of-bob'],
])

/** Put the sign-in of your site here. Undefined: nobody has signed in. */
function userOf({ headers }: IncomingMessage): string | undefined {
  const [, credentials = ''] = headers.authorization?.split('Basic ') ?? []
  const [user = '', password] = Buffer.from(credentials, 'base64').toString().split(':')
  return password !== undefined && passwords.get(user) === password ? user : undefined
}

/** Sends each event as a line of JSON, until the turn is over or the page is gone. */
async function stream(events: AsyncIterable<TurnEvent>, response: ServerResponse): Promise<void> {
  response.setHeader('content-type', 'application/x-ndjson')
  for await (const event of events) {
    response.write(`${JSON.stringify(event)}\n`)
    if (event.type === 'turn-finished' || response.destroyed) break
  }
  response.end()
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const user = userOf(request)
  if (user === undefined)
    return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end('Sign in.')
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const [, chats, chat, part] = pathname.split('/')
  const conversation = `${user}:${chat}` // nobody can name a conversation of another user
  if (chats !== 'chats') {
    const page = await readFile(new URL('chat-server.html', import.meta.url))
    response.setHeader('content-type', 'text/html').end(page)
  } else if (chat === undefined) {
    const { conversations } = await weir.conversations({ where: { tenant: user } })
    const list = conversations.map(({ conversation: id, question }) => ({
      chat: id.slice(`${user}:`.length),
      question,
    }))
    response.end(JSON.stringify(list))
  } else if (request.method === 'POST') {
    // A form of another site cannot send this content type.
    if (request.headers['content-type'] !== 'application/json')
      return void response.writeHead(415).end()
    const { question, messageId = randomUUID() } = JSON.parse(await text(request))
    const turn = weir.ask({ agent, conversation, messageId, text: question, context: { user } })
    await stream(turn.events, response)
  } else if (part === 'events') {
    const turn = Number(searchParams.get('turn'))
    await stream(weir.conversation(conversation).events({ turn }), response)
  } else {
    const known = await weir.conversation(conversation).messages()
    const turns = await weir.conversation(conversation).turns({ limit: 64 })
    const running = turns[0] !== undefined && turns[0].end === undefined ? turns[0].turn : null
    const notes = turns.flatMap(({ turn, end }) =>
      end === undefined || end.outcome === 'answered'
        ? []
        : [{ role: 'note', turn, text: end.reply }],
    )
    const shown = known.filter(({ role }) => role !== 'note') // those are for you, not for users
    const messages = [...shown, ...notes].sort((a, b) => a.turn - b.turn)
    response.end(JSON.stringify({ messages, running }))
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error)
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end()
  })
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(server.address()))
await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
server.close()
server.closeAllConnections()
await weir.close()
