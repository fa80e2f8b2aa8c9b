// The service after a failure, by its error and by the names of tools.

import { describe, expect, it } from '@jest/globals'
import { serviceIn, serviceOf } from '../../../../services/loop-detector/evidence/service-name.ts'

describe('the service in the name of a tool', () => {
  it.each([
    ['crm_find_company', 'crm'],
    ['crmFindCompany', 'crm'],
    ['crm.find', 'crm'],
    ['mcp__crm__find', 'crm'],
    ['functions.crm-find', 'crm'],
    ['api_crm_find', 'crm'],
    ['get_user', ''],
    ['searchWeb', ''],
    ['run_tests', ''],
    ['crm', ''],
    ['mcp__crm', ''],
    ['', ''],
  ])('of %s is %j', (tool, service) => expect(serviceOf(tool)).toBe(service))
})

describe('the service of a failure', () => {
  it.each([
    ['denied', '401 Unauthorized'],
    ['denied', 'session expired'],
    ['denied', 'status: 401\ninvalid_token'],
    ['transient', '503 Service Unavailable'],
  ] as const)('is that of the tools: %s, %s', (kind, error) =>
    expect(serviceIn('crm_find', kind, error)).toBe('crm'),
  )

  it.each([
    ['denied', '403 Forbidden'],
    ['denied', 'permission denied'],
    ['denied', 'declined by user'],
    ['other', 'unauthorized'],
    ['miss', 'not found at a.test:80'],
  ] as const)('is none: %s, %s', (kind, error) =>
    expect(serviceIn('crm_find', kind, error)).toBeUndefined(),
  )

  it('is that of the error if it names a host, for any tool', () => {
    expect(serviceIn('get_user', 'denied', '403 at api.test')).toBe('')
    expect(serviceIn('crm_find', 'transient', 'no answer from 10.0.0.9:5432')).toBe('')
  })
})
