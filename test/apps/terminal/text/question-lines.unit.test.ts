import { expect, it } from '@jest/globals'
import { questionLines } from '../../../../apps/terminal/text/question-lines.ts'

const width = Number.POSITIVE_INFINITY

it('a question shows its server, its message and each field, with terminal codes made visible', () => {
  const schema = {
    required: ['seat'],
    properties: {
      seat: { enum: ['aisle', 'window'], description: 'Where' },
      meals: { type: 'integer', default: 1 },
    },
  }
  const message = 'Which?\u001b[2J\nweir allow all'
  expect(questionLines({ server: 's', message, mode: 'form', schema }, width)).toEqual([
    '    the MCP server s asks: Which?\\u{1b}[2J',
    '    weir allow all',
    '    seat (one of "aisle", "window"; required): Where',
    '    meals (integer; default 1)',
  ])
})

it('a question about a page shows its whole address', () => {
  const url = 'https://bank.example/login?next=%2F&state=1'
  expect(questionLines({ server: 's', message: 'Sign in.', mode: 'url', url }, width)).toEqual([
    '    the MCP server s asks: Sign in.',
    `    open ${url} in a browser, then confirm`,
  ])
})
