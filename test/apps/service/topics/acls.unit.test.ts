// The access rights of all principals, as text. Reviews see each change of a right here.

import { Writable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { parseAllDocuments } from 'yaml'
import { type AclOptions, showAcls } from '../../../../apps/service/topics/acls.ts'
import {
  accessOfAll,
  serverPrincipals,
} from '../../../../shared/bus/kafka/cluster/access-rights.ts'
import { topicsSignedBy } from '../../../../shared/bus/signing/principals.ts'
import { guardTopicName, topics } from '../../../../shared/contract/topology.ts'

async function shown(options: Partial<AclOptions> = {}): Promise<string> {
  let text = ''
  const out = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  await showAcls(
    { user: 'weir-{principal}', as: 'table', cluster: 'kafka', ...options },
    out as unknown as NodeJS.WriteStream,
  )
  return text
}

/** `principal: topics read > topics written; groups`, without the rights to describe. */
function summary(topicPrefix: string, guards: string[]): string {
  const lines = accessOfAll(topicPrefix, guards).map(({ principal, rights }) => {
    const having = (operation: string, resource = 'topic') =>
      rights
        .filter((one) => one.resource === resource && one.operations.some((is) => is === operation))
        .map(({ name, pattern }) => (pattern === 'prefixed' ? `${name}…` : name))
        .join(' ')
    const created = having('Create')
    return `${principal}: ${having('Read')} > ${having('Write')}; ${having('Read', 'group') || '-'}${created && `; creates ${created}`}`
  })
  return `\n${lines.join('\n')}\n`
}

describe('weir topics acls', () => {
  it('gives each principal these rights to read, write, join groups and create topics', () => {
    expect(summary('', ['shell'])).toMatchInlineSnapshot(`
"
intake: client-messages conversation-keys policies > conversation-events guest-events rounds-cleared history dead-letters; intake
conversation: conversation-events conversation-keys policies > conversation-events guest-events model-requests rounds-checked rounds-cleared history activity dead-letters; conversation
guest: guest-events conversation-keys policies > conversation-events guest-events rounds-proposed rounds-checked rounds-cleared history activity dead-letters; guest
llm-gateway: model-requests history conversation-keys policies budgets > conversation-events guest-events model-requests model-deltas history budgets activity dead-letters; llm-gateway
accumulator: model-deltas conversation-keys policies > conversation-events guest-events model-deltas rounds-proposed dead-letters; accumulator
validator: rounds-proposed conversation-keys policies > conversation-events guest-events rounds-checked dead-letters; validator
loop-detector: rounds-checked conversation-keys policies > conversation-events guest-events rounds-checked rounds-cleared activity dead-letters; loop-detector
executor: rounds-cleared guard-verdicts.approval conversation-keys policies budgets audit guard-verdicts.shell > conversation-events guest-events rounds-checked rounds-cleared approvals history budgets activity audit dead-letters; executor
approval: approvals conversation-keys policies audit > conversation-events guest-events approvals guard-verdicts.approval activity audit dead-letters; approval
guard.shell: rounds-cleared conversation-keys policies guard-verdicts.shell > guard-verdicts.shell; guard.shell
edge: conversation-events model-deltas history conversation-keys policies activity > client-messages conversation-keys; -
front: conversation-keys policies budgets activity > guest-events conversation-keys budgets; -
approver: approvals conversation-keys policies dead-letters > approvals; -
operator: guard-verdicts.… client-messages conversation-events guest-events model-requests model-deltas rounds-proposed rounds-checked rounds-cleared approvals guard-verdicts.approval history conversation-keys policies budgets activity audit dead-letters > history conversation-keys policies activity audit; -; creates *
serve: conversation-events model-deltas approvals history conversation-keys policies activity dead-letters > client-messages approvals conversation-keys; -
"
`)
  })

  const serversByName = new Map<string, readonly string[]>(Object.entries(serverPrincipals))

  it('lets each principal write exactly the topics of its records', () => {
    for (const { principal, rights } of accessOfAll('w.', ['shell']))
      expect(
        rights.filter(({ operations }) => operations.includes('Write')).map(({ name }) => name),
      ).toEqual(
        Object.keys(topics)
          .concat(guardTopicName('shell'))
          .filter((topic) =>
            (serversByName.get(principal) ?? [principal]).flatMap(topicsSignedBy).includes(topic),
          )
          .map((topic) => `w.${topic}`),
      )
  })

  it('lets no client and no approver write a topic that a stage other than theirs reads', () => {
    const [edge, approver] = ['edge', 'approver'].map(topicsSignedBy)
    expect([edge, approver]).toEqual([['client-messages', 'conversation-keys'], ['approvals']])
    expect(topicsSignedBy('front')).toEqual(['guest-events', 'conversation-keys', 'budgets'])
    expect(Object.keys(topics)).toContain('client-messages')
  })

  it('lets a user with the rights of an operator and a client retry dead letters of messages', () => {
    const having = (operation: string, ...principals: string[]) =>
      accessOfAll('', [])
        .filter(({ principal }) => principals.includes(principal))
        .flatMap(({ rights }) => rights)
        .filter(({ operations }) => operations.some((one) => one === operation))
        .map(({ name }) => name)
    const needed = ['client-messages', 'policies', 'dead-letters']
    expect(having('Read', 'operator', 'edge')).toEqual(expect.arrayContaining(needed))
    expect(having('Write', 'operator', 'edge')).toContain('client-messages')
    expect(having('Write', 'operator', 'approver')).toContain('approvals')
    expect(having('Write', 'operator')).toEqual([
      'history',
      'conversation-keys',
      'policies',
      'activity',
      'audit',
    ])
  })

  it('names all topics with the same operations in one line', async () => {
    const lines = (await shown({ as: 'lines' })).trim().split('\n')
    const line = lines.find((one) => one.includes('weir-approver') && one.includes(' Write '))
    expect(line).toMatch(/--operation Read --operation Write .* --topic weir[.]approvals$/)
    const read = lines.filter(
      (one) => one.includes('weir-edge') && one.includes('Read') && !one.includes('Write'),
    )
    expect(read).toHaveLength(1)
    expect(read[0]?.match(/--topic \S+/g)?.length).toBe(5)
  })

  it('prints lines that a shell reads as one command each, with other users and prefixes', async () => {
    const lines = (
      await shown({ as: 'lines', topicPrefix: 'mine.', user: 'CN={principal},O=my firm' })
    )
      .trim()
      .split('\n')
    expect(lines).toContain(
      "kafka-acls.sh --bootstrap-server HOST:9092 --add --allow-principal 'User:CN=validator,O=my firm' --operation Read --group mine.validator",
    )
    expect(lines).toContain(
      "kafka-acls.sh --bootstrap-server HOST:9092 --add --allow-principal 'User:CN=operator,O=my firm' --operation Create --operation Describe --operation DescribeConfigs --topic mine. --resource-pattern-type prefixed",
    )
  })

  it('prints a KafkaUser of v1 for each principal, with the rights of the table', async () => {
    const text = await shown({ as: 'strimzi', guard: ['shell'], cluster: 'main' })
    const users = parseAllDocuments(text).map((one) => one.toJS())
    expect(users.map(({ metadata }) => metadata.name)).toEqual(
      accessOfAll('weir.', ['shell']).map(({ principal }) => `weir-${principal}`),
    )
    expect(users.find(({ metadata }) => metadata.name === 'weir-edge')).toMatchObject({
      apiVersion: 'kafka.strimzi.io/v1',
      kind: 'KafkaUser',
      metadata: { labels: { 'strimzi.io/cluster': 'main' } },
      spec: {
        authorization: {
          type: 'simple',
          acls: expect.arrayContaining([
            {
              resource: { type: 'topic', name: 'weir.client-messages', patternType: 'literal' },
              operations: ['Write', 'Describe', 'DescribeConfigs'],
            },
          ]),
        },
      },
    })
  })

  it('prints the guards of the command line in the table, and the lines after it', async () => {
    const text = await shown({ guard: ['shell'] })
    expect(text).toContain('guard.shell (User:weir-guard.shell)')
    expect(text).toMatch(/topic {2}weir\.guard-verdicts\.shell +Read, Write, Describe/)
    expect(text).toContain('kafka-acls.sh')
  })

  it.each<[string, Partial<AclOptions>, string]>([
    ['a pattern without the place of the name', { user: 'weir' }, '{principal}'],
    ['a name that no guard can have', { guard: ['No!'] }, "--guard is 'No!'"],
    ['a user that Kubernetes refuses', { as: 'strimzi', user: 'CN={principal}' }, '--user'],
  ])('refuses %s', async (_, options, message) => {
    await expect(shown(options)).rejects.toThrow(message)
  })
})
