import { describe, expect, it } from '@jest/globals'
import type { Agents, Model, ToolRun } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { keysOfModel, secretsOf, secretsOfEnvironment } from '../../../shared/agents/secrets.ts'
import { secretMask } from '../../../shared/lib/log/secret-mask.ts'
import { declarationWith } from '../../support/messages.ts'

function agents(run: ToolRun, model: Partial<Model> = {}): Agents {
  const declaration = declarationWith({ name: 't', description: 'd', timeoutMs: 1000 })
  const agent = {
    name: 'a',
    system: '',
    tools: [{ declaration, run }],
    settings: defaultSettings,
    model: { provider: 'anthropic', name: 'm', apiKey: '', maxOutputTokens: 1, ...model },
  }
  return new Map([['a', agent]])
}

function hide(
  text: string,
  { url = 'http://localhost/', headers = {} }: { url?: string; headers?: Record<string, string> },
): string {
  return secretMask(secretsOf(agents({ kind: 'http', url, headers })))(text)
}

describe('credentials in a result', () => {
  it.each<[string, string, Parameters<typeof hide>[1], string]>([
    [
      'a whole header',
      'got Bearer abcdefgh',
      { headers: { Authorization: 'Bearer abcdefgh' } },
      'got [secret]',
    ],
    [
      'the word of a header that is one',
      'token abcdefgh is bad',
      { headers: { authorization: 'Bearer abcdefgh' } },
      'token [secret] is bad',
    ],
    [
      'the value of a cookie',
      'sid abcdefgh',
      { headers: { Cookie: 'sid=abcdefgh; theme=dark' } },
      'sid [secret]',
    ],
    [
      'a long word of any other header',
      'x-y: abcdefghijklmnop',
      { headers: { 'x-y': 'abcdefghijklmnop' } },
      'x-y: [secret]',
    ],
    [
      'a parameter of the URL',
      'key abc def/gh',
      { url: 'http://localhost/?api_key=abc%20def%2Fgh' },
      'key [secret]',
    ],
    [
      'the longer of two, whole',
      'abcdefgh-ijkl',
      { headers: { key1: 'abcdefgh', key2: 'abcdefgh-ijkl' } },
      '[secret]',
    ],
  ])('%s', (_, text, options, shown) => expect(hide(text, options)).toBe(shown))

  it.each<[string, string, Parameters<typeof hide>[1]]>([
    [
      'the name of a scheme',
      'a Bearer is missing',
      { headers: { authorization: 'Bearer abcdefgh' } },
    ],
    ['what is too short to be a credential', 'x of y', { headers: { authorization: 'of' } }],
    ['a short word of any other header', 'research', { headers: { 'X-Team': 'research' } }],
    [
      'what no header hides',
      'application/vnd.weir+json',
      { headers: { Accept: 'application/vnd.weir+json' } },
    ],
  ])('but %s', (_, text, options) => expect(hide(text, options)).toBe(text))
})

describe('the secrets of agents', () => {
  it('are the values that an agent file put into a URL and headers, and nothing that looks like one', () => {
    const run: ToolRun = {
      kind: 'http',
      url: 'http://h/x?api_key=aaaabbbb',
      headers: { 'x-y': 'abcdefghijklmnop' },
      secrets: ['482913'],
    }
    expect(secretsOf(agents(run))).toEqual(['482913'])
  })

  it('are the key of a model and the values in its address', () => {
    const run: ToolRun = { kind: 'command', argv: ['x'] }
    expect(secretsOf(agents(run, { apiKey: 'sk-1', secrets: ['path-token'] }))).toEqual([
      'sk-1',
      'path-token',
    ])
  })

  it('are the keys in an environment, and no places, counts or words', () => {
    const environment = {
      ANTHROPIC_API_KEY: 'sk-ant-1234567890',
      GITHUB_TOKEN: 'ghp_1234567890abcdef',
      DB_PASSWORD: 'correct horse battery',
      SSH_AUTH_SOCK: '/tmp/ssh-1234567890/agent.1',
      XAUTHORITY: '/run/user/1000/.mutter-Xwaylandauth',
      AWS_WEB_IDENTITY_TOKEN_FILE: '/var/run/secrets/token-1234',
      MAX_THINKING_TOKENS: '31999',
      KEYMAP: 'us',
      PATH: '/usr/local/bin:/usr/bin:/bin',
      XDG_SESSION_ID: 'c1234567890123456',
    }
    expect(secretsOfEnvironment(environment)).toEqual([
      'sk-ant-1234567890',
      'ghp_1234567890abcdef',
      'correct horse battery',
    ])
  })

  it('are the variables of a tool whose names tell that they are secrets', () => {
    const run: ToolRun = {
      kind: 'command',
      argv: ['x'],
      environment: ['API_TOKEN', 'REGION', 'UNSET_KEY'],
    }
    expect(secretsOf(agents(run), { API_TOKEN: 'tok-1', REGION: 'eu' })).toEqual(['tok-1'])
  })
})

describe('the keys of a model, which its answers never show,', () => {
  it('are its key and the headers with a telling name, and no other header, such as the address of a program', () => {
    const headers = { 'HTTP-Referer': 'https://my-app.example', 'x-api-key': 'k-12345678' }
    const model = {
      provider: 'openai-chat',
      name: 'm',
      apiKey: 'sk-1',
      maxOutputTokens: 1,
      headers,
    }
    expect(keysOfModel(model as Model)).toEqual(['sk-1', 'k-12345678', 'k-12345678'])
  })
})
