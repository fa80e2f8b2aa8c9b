import { describe, expect, it } from '@jest/globals'
import { openSchemas } from '../../../../apps/service/doctor/open-schemas.ts'
import type { GuardMode } from '../../../../shared/contract/messages.ts'
import { agentOf, tool } from '../../../services/llm-gateway/samples.ts'

const closed = { additionalProperties: false }
const object = (properties: Record<string, unknown>, more = {}) => ({
  type: 'object',
  properties,
  ...more,
})
const guard = (pattern: string, mode: GuardMode = 'enforce') => ({
  name: 'spend',
  tools: [{ pattern, mode }],
  rules: null,
})
const approval = (...rules: object[]) => ({
  name: 'approval',
  tools: [{ pattern: 'deploy', mode: 'enforce' as const }],
  rules: JSON.stringify(rules.map((rule) => ({ name: 'r', tools: ['deploy'], ...rule }))),
})

function places(schema: object, ...guards: Parameters<typeof openSchemas>[1]): string[] {
  const agent = agentOf({ tools: [tool('deploy', { schema: JSON.stringify(schema) })] })
  return openSchemas(new Map([['agent', agent]]), guards).map(({ state, finding }) => {
    expect(state).toBe('warning')
    return /declare, (.*), and /.exec(finding)?.[1] ?? finding
  })
}

describe('a tool that accepts fields which its schema does not declare', () => {
  const nested = object({ env: {}, region: object({ name: {} }), free: { type: 'object' } })

  it('is reported if a guard judges it, with each object that declares fields', () => {
    expect(places(object({ env: {} }), guard('dep*'))).toEqual(['at the top'])
    expect(places({ type: 'object' }, guard('*', 'shadow'))).toEqual(['at the top'])
    expect(places(nested, guard('*'))).toEqual(['at the top, in /region'])
    expect(places({ ...nested, ...closed }, guard('*'))).toEqual(['in /region'])
    expect(places(object({ rows: { items: object({ a: {} }) } }, closed), guard('*'))).toEqual([
      'in /rows/*',
    ])
  })

  it('is reported if an approval rule looks into it, with the objects on the path of the rule', () => {
    const path = (to: string) => approval({ pattern: { path: to, matches: '.' } })
    expect(places(nested, path('env'))).toEqual(['at the top'])
    expect(places(nested, path('/region/name'))).toEqual(['at the top, in /region'])
    const schema = { properties: { region: { properties: { name: { const: 'a' } } } } }
    expect(places(nested, approval({ arguments: schema }))).toEqual(['at the top, in /region'])
  })

  it('is named with the agent and the guards', () => {
    const agent = agentOf({ tools: [tool('deploy', { schema: '{}' })] })
    expect(openSchemas(new Map([['agent', agent]]), [guard('deploy')])).toEqual([
      {
        name: 'schema',
        state: 'warning',
        finding:
          'agent/deploy accepts fields that its schema does not declare, at the top, and spend may not see them',
        remedy: 'write additionalProperties: false there',
      },
    ])
  })

  it.each([
    ['no guard judges it', object({ a: {} }), [guard('other')]],
    ['it declares no others', object({ a: {} }, closed), [guard('*')]],
    ['it decides about others', object({ a: {} }, { additionalProperties: {} }), [guard('*')]],
    ['a part of it decides', { allOf: [object({ a: {} }, closed)] }, [guard('*')]],
    ['the rule has no condition', object({ a: {} }), [approval({})]],
    ['the rule is for another tool', object({ a: {} }), [approval({ tools: ['pay'] })]],
  ])('is not reported if %s', (_, schema, guards) => {
    expect(places(schema, ...guards)).toEqual([])
  })

  it('names each place of a schema that refers to itself once, at its shortest path', () => {
    const tree = object({ child: { $ref: '#' }, other: { $ref: '#' } })
    expect(places(tree, guard('*'))).toEqual(['at the top, in /child, in /other'])
    const choices = { anyOf: [{ items: { $ref: '#/$defs/json' } }, object({ kind: {} })] }
    const json = { ...object({ data: { $ref: '#/$defs/json' } }), $defs: { json: choices } }
    expect(places(json, guard('*'))).toEqual(['at the top, in /data, in /data/*'])
  })

  it('is reported in bounded steps if each of many fields refers to the whole schema', () => {
    const wide = object(Object.fromEntries(names(12).map((name) => [name, { $ref: '#' }])))
    expect(places(wide, guard('*'))).toEqual(['at the top, in /n0, in /n1, 10 more'])
    expect(places(wide, approval({ arguments: wide }))).toHaveLength(1)
  })

  it('is reported for an object at any depth', () => {
    const deep = names(20).reduce(
      (inner, name) => object({ [name]: inner }, closed),
      object({ a: {} }),
    )
    expect(places(deep, guard('*'))[0]).toMatch(/^in (?:\/n\d+){20}$/)
  })
})

const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`)
