import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'
import { defineAgent, defineTool, openaiChat, Weir } from '../../../client/weir.ts'

const deploy = defineTool({
  name: 'deploy',
  description: 'Deploys the site',
  parameters: z.object({ to: z.string() }),
  run: async ({ to }) => `deployed to ${to}`,
})
const agent = defineAgent({
  name: 'operator',
  model: openaiChat('mock', { baseUrl: process.env.MODEL_URL }),
  system: 'You operate a site.',
  tools: [deploy],
})
await using weir = await Weir.open({
  agents: [agent],
  approvals: { rules: [{ name: 'deployments', tools: ['deploy'] }] },
})

const page = new Hono()
page.get('/', async (c) => {
  const button = (id: string, text: string) =>
    html`<form method="post" action="/${id}">${text} <button>Approve</button></form>`
  const calls = await weir.approvals()
  return c.html(html`<h1>Calls</h1>${calls.map((call) => button(call.id, call.rawArguments))}`)
})
page.post('/:id', async (c) => {
  await weir.allow(c.req.param('id'))
  return c.redirect('/')
})
const server = serve({ fetch: page.fetch, port: 0 }, ({ port }) =>
  console.error(`http://localhost:${port}`),
)

const { reply } = await weir.ask({ agent, text: 'Deploy the site.' }).finished
console.log(reply)
server.close()
