import { serve } from '@hono/node-server'
import { Agent, OpenAIChatCompletionsModel, run, tool } from '@openai/agents'
import { Hono } from 'hono'
import { html } from 'hono/html'
import OpenAI from 'openai'
import { z } from 'zod'

const deploy = tool({
  name: 'deploy',
  description: 'Deploys the site',
  parameters: z.object({ to: z.string() }),
  needsApproval: true,
  execute: async ({ to }) => `deployed to ${to}`,
})
const client = new OpenAI({ baseURL: process.env.MODEL_URL, apiKey: 'none' })
const agent = new Agent({
  name: 'operator',
  model: new OpenAIChatCompletionsModel(client, 'mock'),
  instructions: 'You operate a site.',
  tools: [deploy],
})
const waiting = new Map<string, { text: string; approve: () => void }>()

const page = new Hono()
page.get('/', (c) => {
  const button = (id: string, text: string) =>
    html`<form method="post" action="/${id}">${text} <button>Approve</button></form>`
  return c.html(html`<h1>Calls</h1>${[...waiting].map(([id, { text }]) => button(id, text))}`)
})
page.post('/:id', (c) => {
  waiting.get(c.req.param('id'))?.approve()
  return c.redirect('/')
})
const server = serve({ fetch: page.fetch, port: 0 }, ({ port }) =>
  console.error(`http://localhost:${port}`),
)

let result = await run(agent, 'Deploy the site.')
while (result.interruptions.length > 0) {
  const { state, interruptions } = result
  const approvals = interruptions.map((item, index) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const id = String(index)
    const approve = () => {
      waiting.delete(id)
      state.approve(item)
      resolve()
    }
    waiting.set(id, { text: item.arguments ?? '', approve })
    return promise
  })
  await Promise.all(approvals)
  result = await run(agent, state)
}
console.log(result.finalOutput)
server.close()
