import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { serve } from '@hono/node-server'
import { generateText, type ModelMessage, stepCountIs, type ToolApprovalResponse, tool } from 'ai'
import { Hono } from 'hono'
import { html } from 'hono/html'
import { z } from 'zod'

const deploy = tool({
  description: 'Deploys the site',
  inputSchema: z.object({ to: z.string() }),
  needsApproval: true,
  execute: async ({ to }) => `deployed to ${to}`,
})
const mock = createOpenAICompatible({ name: 'mock', baseURL: process.env.MODEL_URL ?? '' })
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

const messages: ModelMessage[] = [{ role: 'user', content: 'Deploy the site.' }]
for (;;) {
  const { text, content, responseMessages } = await generateText({
    model: mock('mock'),
    system: 'You operate a site.',
    tools: { deploy },
    stopWhen: stepCountIs(25),
    messages,
  })
  messages.push(...responseMessages)
  const questions = content.filter((part) => part.type === 'tool-approval-request')
  if (questions.length === 0) {
    console.log(text)
    break
  }
  const answers = questions.map(({ approvalId, toolCall }) => {
    const { promise, resolve } = Promise.withResolvers<ToolApprovalResponse>()
    const answer = { type: 'tool-approval-response', approvalId, approved: true } as const
    const approve = () => {
      waiting.delete(approvalId)
      resolve(answer)
    }
    waiting.set(approvalId, { text: JSON.stringify(toolCall.input), approve })
    return promise
  })
  messages.push({ role: 'tool', content: await Promise.all(answers) })
}
server.close()
