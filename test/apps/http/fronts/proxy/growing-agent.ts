// An agent that shows no call to its model, as smolagents 1.26 does: it adds a failure to the text of its
// user, and an answer in text is a failure too. It ends after its own limit of requests only.

import { chatCase } from './requests.ts'

type Message = { role: string; content: string }
type Answer = { choices: [{ message: { content: string | null; tool_calls?: unknown[] } }] }

const { tools } = JSON.parse(chatCase.first) as { tools: unknown }

/** The notes `x-weir` of its answers, and the texts that it got. */
export async function growingAgent(
  url: string,
  {
    requests,
    headers = {},
    task = 'New task:\nList the files.',
  }: { requests: number; headers?: Record<string, string>; task?: string },
): Promise<{ notes: (string | null)[]; texts: string[] }> {
  const messages: Message[] = [{ role: 'user', content: task }]
  const notes: (string | null)[] = []
  const texts: string[] = []
  for (let n = 0; n < requests; n += 1) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer k', ...headers },
      body: JSON.stringify({
        model: 'm',
        tools,
        tool_choice: 'required',
        messages: [{ role: 'system', content: 'You are an agent.' }, ...messages],
      }),
    })
    notes.push(response.headers.get('x-weir'))
    const answer = (await response.json()) as Answer
    if (response.status !== 200) throw new Error(JSON.stringify(answer))
    const { content, tool_calls: calls = [] } = answer.choices[0].message
    const error = calls.length > 0 ? 'Argument cmd is required' : 'The output has no JSON blob'
    if (calls.length === 0) {
      texts.push(content ?? '')
      messages.push({ role: 'assistant', content: content ?? '' })
    }
    addText(messages, `Error:\n${error}\nNow let's retry.\n`)
  }
  return { notes, texts }
}

/** Messages of one role in a row become one. */
function addText(messages: Message[], text: string): void {
  const last = messages.at(-1)
  if (last?.role === 'user') last.content += `\n${text}`
  else messages.push({ role: 'user', content: text })
}
