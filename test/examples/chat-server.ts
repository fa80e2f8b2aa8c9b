// A chat for the users of a site: useChat on an agent, with the history of each user.

import { createServer } from 'node:http'
import { z } from 'zod'
import { always, call, says, scriptedModel } from '../../client/testing/testing.ts'
import { anthropic, defineAgent, defineTool, Weir } from '../../client/weir.ts'

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
function userOf(headers: Headers): string | undefined {
  const [, credentials = ''] = headers.get('authorization')?.split('Basic ') ?? []
  const [user = '', password] = Buffer.from(credentials, 'base64').toString().split(':')
  return password !== undefined && passwords.get(user) === password ? user : undefined
}

const handler = weir.http({
  principal({ headers }) {
    const user = userOf(headers)
    return user === undefined ? undefined : { name: user, tenant: user, context: { user } }
  },
})
const server = createServer(handler.node)
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(server.address()))
await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve))
await weir.close()
server.close()
server.closeAllConnections()
