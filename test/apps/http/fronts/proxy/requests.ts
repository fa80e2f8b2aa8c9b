// Requests and answers of the three APIs for tests of the proxy, with one call of a tool in the
// history. The texts are written as clients write them: odd blanks, members in an odd order, a
// number that JSON.stringify would change.

export type ApiCase = {
  name: string
  path: string
  /** A request whose history has one call and its result. */
  request: string
  /** The same before the first answer. */
  first: string
  /** A whole answer with a call `call_2` of the tool `exec`. */
  answer: unknown
}

const schema = '{ "type":"object","properties":{"cmd":{"type":"string"}} , "required":["cmd"]}'

export const messagesCase: ApiCase = {
  name: 'Messages',
  path: '/v1/messages',
  request: `{"model":"m", "tools":[{"name":"exec","input_schema":${schema}}],
    "unknown":{"b":1.50,"a":9007199254740993},
    "messages":[{"role":"user","content":"list it"},
     {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s/+=="},
       {"type":"tool_use","id":"call_1","name":"exec","input":{}}]},
     {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"no","is_error":true,"cache_control":{"type":"ephemeral"}} ]}], "max_tokens":10}`,
  first: `{"model":"m","max_tokens":10,"tools":[{"name":"exec","input_schema":${schema}}],"messages":[{"role":"user","content":"list it"}]}`,
  answer: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_reason: 'tool_use',
    content: [
      { type: 'text', text: 'again' },
      { type: 'tool_use', id: 'call_2', name: 'exec', input: {} },
    ],
    usage: { input_tokens: 3, output_tokens: 4 },
  },
}

export const chatCase: ApiCase = {
  name: 'Chat Completions',
  path: '/v1/chat/completions',
  request: `{"model":"m","tools":[{"type":"function","function":{"name":"exec","parameters":${schema}}}],
    "tool_choice" : "auto", "unknown":{"b":1.50,"a":9007199254740993},
    "messages":[{"role":"user","content":"list it"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"exec","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"call_1","content":"Error: no"} ] }`,
  first: `{"model":"m","tools":[{"type":"function","function":{"name":"exec","parameters":${schema}}}],"messages":[{"role":"user","content":"list it"}]}`,
  answer: {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: 'again',
          tool_calls: [
            { id: 'call_2', type: 'function', function: { name: 'exec', arguments: '{}' } },
          ],
        },
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
  },
}

export const responsesCase: ApiCase = {
  name: 'Responses',
  path: '/v1/responses',
  request: `{"model":"m","tools":[{"type":"function","name":"exec","parameters":${schema},"strict":false}],
    "unknown":{"b":1.50,"a":9007199254740993},"store":false,
    "input":[{"role":"user","content":"list it"},
      {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x/+=="},
      {"type":"function_call","call_id":"call_1","name":"exec","arguments":"{}"},
      {"type":"function_call_output","call_id":"call_1","output":"Error: no"} ]}`,
  first: `{"model":"m","input":"list it","tools":[{"type":"function","name":"exec","parameters":${schema},"strict":false}]}`,
  answer: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'm',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'again', annotations: [] }],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_2',
        name: 'exec',
        arguments: '{}',
        status: 'completed',
      },
    ],
    usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  },
}

export const apiCases = [messagesCase, chatCase, responsesCase]
