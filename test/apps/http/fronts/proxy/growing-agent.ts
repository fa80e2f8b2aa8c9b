// An agent that shows no call to its model, as smolagents 1.26 does. It adds a failure to the text of
// its user, and a call that ran becomes two texts. An answer in text is a failure too. It ends after
// its own limit of requests only.

import { chatCase } from './requests.ts'

type Message = { role: string; content: string }
type Call = { id: string; function: { name: string; arguments: string } }
type Answer = { choices: [{ message: { content: string | null; tool_calls?: Call[] } }] }

const { tools } = JSON.parse(chatCase.first) as { tools: unknown }

/** The notes `x-weir` of its answers, and the texts that it got. */
export async function growingAgent(
  url: string,
  {
    requests,
    headers = {},
    task = 'New task:\nList the files.',
    choice = 'required',
    isStubborn = false,
  }: {
    requests: number
    headers?: Record<string, string>
    task?: string
    choice?: string
    /** It goes on after an error. */
    isStubborn?: boolean
  },
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
        tool_choice: choice,
        messages: [{ role: 'system', content: 'You are an agent.' }, ...messages],
      }),
    })
    notes.push(response.headers.get('x-weir'))
    const answer = (await response.json()) as Answer
    if (response.status === 400 && isStubborn) continue
    if (response.status !== 200) throw new Error(JSON.stringify(answer))
    const { content, tool_calls: calls = [] } = answer.choices[0].message
    const [call] = calls
    if (call === undefined) {
      texts.push(content ?? '')
      messages.push({ role: 'assistant', content: content ?? '' })
      addText(messages, "Error:\nThe output has no JSON blob\nNow let's retry.\n")
    } else if (call.function.arguments === '{}')
      addText(messages, "Error:\nArgument cmd is required\nNow let's retry.\n")
    else {
      messages.push({ role: 'assistant', content: `Calling tools:\n[{'id': '${call.id}'}]` })
      addText(messages, 'Observation:\ndone')
    }
  }
  return { notes, texts }
}

/** Messages of one role in a row become one. */
function addText(messages: Message[], text: string): void {
  const last = messages.at(-1)
  if (last?.role === 'user') last.content += `\n${text}`
  else messages.push({ role: 'user', content: text })
}
