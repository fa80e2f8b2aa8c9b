// Honest work with services: searches, pages, clusters, pipelines, retries with growing waits, batches,
// messages, games. The expectations were written before the first run, in which all were right.

import type { Scenario } from '../../../../apps/replay/judge/scenario.ts'
import { failed, ok, rounds, turnOf, word } from '../trace.ts'
import { after, bash, bashFailed, snapshot, work } from './session.ts'

const people = 'ada bo cy dee eli fay gus hal ida jon kim lea mo ned'.split(' ')
const p = (n: number) => turnOf(people, n)

export const servicesWork: Scenario[] = [
  work(
    'rate-limit',
    rounds(7, (n) => [
      n < 7
        ? bash('curl -s -o /dev/null -w "%{http_code}" https://api.example.com/v1/export', '429')
        : bash('curl -s -o /dev/null -w "%{http_code}" https://api.example.com/v1/export', '200'),
      after(2 ** n, bash(`sleep ${2 ** n}`, '')),
    ]),
  ),
  work(
    'unavailable-and-back',
    rounds(4, (n) => [
      failed('http_get', { url: `https://svc${n}.example.com/items` }, '503 Service Unavailable'),
      after(
        10,
        failed('http_get', { url: `https://svc${n}.example.com/items` }, '503 Service Unavailable'),
      ),
      after(
        40,
        ok('http_get', { url: `https://svc${n}.example.com/items` }, `{"items":[${n},${n * 7}]}`),
      ),
    ]),
  ),
  work(
    'pages-of-a-list',
    rounds(20, (n) =>
      bash(
        `gh api 'repos/acme/app/issues?per_page=30&page=${n}' --jq '.[].title'`,
        n < 20 ? `${word(n, 9)} fails\n${word(n + 30, 7)} is slow` : '',
      ),
    ),
  ),
  work(
    'form-with-many-fields',
    rounds(12, (n) =>
      ok(
        'browser_type',
        {
          element: `${turnOf(['First name', 'Last name', 'Street', 'City', 'Postcode', 'Phone', 'Company', 'VAT number', 'Website', 'Comment', 'Country', 'Email'], n)} field`,
          ref: `e${10 + n}`,
          text: `${p(n)} ${n}`,
        },
        `### Ran Playwright code\n\`\`\`js\nawait page.locator('aria-ref=e${10 + n}').fill('${p(n)} ${n}');\n\`\`\``,
      ),
    ),
    3,
  ),
  work(
    'shop-with-products',
    rounds(10, (n) => [
      ok(
        'browser_navigate',
        { url: `https://shop.example.com/p/${n}` },
        snapshot(
          `https://shop.example.com/p/${n}`,
          `Product ${word(n, 6)}`,
          [`heading "Product ${word(n, 6)}"`, `text: ${n * 13}.99`, 'button "Add to cart"'],
          3,
        ),
      ),
      ok(
        'browser_click',
        { element: 'Add to cart', ref: 'e5' },
        snapshot(
          `https://shop.example.com/p/${n}`,
          `Product ${word(n, 6)}`,
          [`heading "Product ${word(n, 6)}"`, `link "Cart (${n})"`],
          9,
        ),
      ),
    ]),
  ),
  work(
    'scrolling',
    rounds(12, (n) =>
      ok(
        'browser_scroll',
        { direction: 'down', amount: 800 },
        `Scrolled. Visible: ${word(n, 8)} ${word(n + 20, 11)} ${word(n + 40, 6)}`,
      ),
    ),
    2,
  ),
  work(
    'menu-with-keys',
    [
      ...rounds(7, (n) =>
        ok(
          'press_key',
          { key: 'ArrowDown' },
          `> ${turnOf(['File', 'Edit', 'View', 'Run', 'Tools', 'Help', 'Quit'], n)}`,
        ),
      ),
      ok('press_key', { key: 'Enter' }, 'Bye'),
    ],
    2,
  ),
  work('pod-that-starts', [
    bash('kubectl apply -f api.yaml', 'deployment.apps/api created'),
    ...rounds(9, (n) =>
      after(
        15,
        bash(
          'kubectl get pods -l app=api',
          `NAME         READY   STATUS              RESTARTS   AGE\napi-7d9-x2   ${n < 9 ? '0/1     ContainerCreating' : '1/1     Running          '}   0          ${n * 15}s`,
        ),
      ),
    ),
  ]),
  work(
    'crash-with-other-causes',
    rounds(7, (n) => [
      bash('kubectl rollout restart deploy/api', 'deployment.apps/api restarted'),
      bash(
        'kubectl get pods',
        `NAME        READY   STATUS             RESTARTS     AGE\napi-${word(n, 5)}   0/1     CrashLoopBackOff   ${n} (4s ago)   9s`,
      ),
      bash(
        'kubectl logs deploy/api --tail=2',
        `starting\nError: ${turnOf(['DB_URL is not set', 'table users does not exist', 'port 80: permission denied', 'cannot read /tls/key.pem', 'unknown flag --metrics', 'invalid duration "5"', 'license expired'], n)}`,
      ),
      bash(
        `kubectl patch cm api --type merge -p '{"data":{"K${n}":"v${n}"}}'`,
        'configmap/api patched',
      ),
    ]),
    2,
  ),
  work(
    'rollout-that-progresses',
    rounds(12, (n) =>
      bash(
        'kubectl rollout status deploy/api --timeout=10s',
        n < 12
          ? `Waiting for deployment "api" rollout to finish: ${n} out of 12 new replicas have been updated...`
          : 'deployment "api" successfully rolled out',
      ),
    ),
    12,
  ),
  work('pipeline-that-runs', [
    ...rounds(18, () =>
      after(30, bash('gh run view 5512 --json status --jq .status', 'in_progress')),
    ),
    bash('gh run view 5512 --json status --jq .status', 'completed'),
  ]),
  work('pipeline-with-tool', [
    ...rounds(12, (n) =>
      after(
        60,
        ok(
          'github_get_workflow_run',
          { owner: 'acme', repo: 'app', run_id: 5512 },
          `{"id":5512,"status":"${n < 12 ? 'in_progress' : 'completed'}","conclusion":${n < 12 ? 'null' : '"success"'},"updated_at":"2026-11-20T10:${10 + n}:00Z"}`,
        ),
      ),
    ),
  ]),
  work(
    'modules-without-change',
    rounds(10, (n) =>
      bash(
        `terraform -chdir=modules/${p(n)} plan`,
        'No changes. Your infrastructure matches the configuration.\n\nTerraform has compared your real infrastructure against your configuration and found no differences, so no changes are needed.',
      ),
    ),
    15,
  ),
  work('service-that-comes-up', [
    bash('docker compose up -d api', ' Container api-1  Started'),
    ...rounds(9, (n) => [
      after(n * 2, bash(`sleep ${n * 2}`, '')),
      n < 9
        ? bashFailed(
            'curl -sf localhost:8080/ready',
            'curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused',
          )
        : bash('curl -sf localhost:8080/ready', 'ready'),
    ]),
  ]),
  work('pull-that-times-out', [
    ...rounds(4, (n) =>
      after(
        10 * n,
        bashFailed(
          'docker pull registry.example.com/app:3',
          'Error response from daemon: Get "https://registry.example.com/v2/": net/http: TLS handshake timeout',
        ),
      ),
    ),
    bash(
      'docker pull registry.example.com/app:3',
      '3: Pulling from app\nStatus: Downloaded newer image',
    ),
  ]),
  work(
    'mails-to-many',
    rounds(12, (n) =>
      ok(
        'send_email',
        {
          to: `${p(n)}@example.com`,
          subject: 'Maintenance on Friday',
          body: 'The service is down on Friday from six to seven.',
        },
        `{"status":"sent","id":"${word(n, 12)}"}`,
      ),
    ),
  ),
  work(
    'tickets-of-a-review',
    rounds(12, (n) =>
      ok(
        'mcp__jira__create_issue',
        {
          project: 'OPS',
          summary: `Rotate the key of ${p(n)}`,
          description: `The key of ${p(n)} is ${n * 40} days old.`,
        },
        `{"key":"OPS-${900 + n}"}`,
      ),
    ),
  ),
  work(
    'progress-in-a-channel',
    rounds(8, (n) => [
      bash(`./migrate.sh shard-${n}`, `shard-${n}: ${n * 1031} rows moved`),
      ok(
        'slack_post_message',
        { channel: 'C042', text: `Shard ${n} is migrated, ${n * 1031} rows moved.` },
        `{"ok":true,"ts":"17636${n}0.000${n}"}`,
      ),
    ]),
  ),
  work(
    'search-that-narrows',
    rounds(9, (n) =>
      ok(
        'WebSearch',
        {
          query: turnOf(
            [
              'node 26 release notes',
              'node 26 v8 version',
              'v8 14 array grouping',
              'iterator helpers node 26',
              'node 26 breaking changes url',
              'node:sqlite stable node 26',
              'node 26 permission model',
              'node 26 corepack removed',
              'node 26 lts date',
            ],
            n,
          ),
        },
        n % 3 === 0
          ? 'No results found.'
          : `1. ${word(n, 8)} - https://example.org/${n}\n2. ${word(n + 9, 8)} - https://example.net/${n}`,
      ),
    ),
  ),
  work(
    'pages-of-which-some-forbid',
    rounds(10, (n) =>
      n % 3 === 1
        ? failed(
            'WebFetch',
            { url: `https://site${n}.example.com/a`, prompt: 'Summarise' },
            'Request failed with status code 403',
          )
        : ok(
            'WebFetch',
            { url: `https://site${n}.example.com/a`, prompt: 'Summarise' },
            `The article explains ${word(n, 9)} and its relation to ${word(n + 5, 7)}.`,
          ),
    ),
  ),
  work(
    'folders-of-a-new-project',
    rounds(25, (n) =>
      bash(
        n % 2 === 0 ? `ls src/${p(n)}${n}` : `cat src/${p(n)}${n}/index.ts`,
        n % 2 === 0 ? `index.ts\n${word(n, 6)}.ts` : `export * from './${word(n, 6)}'`,
      ),
    ),
  ),
  work(
    'columns-of-a-table',
    rounds(12, (n) => ok('python', { code: `df['${word(n, 6)}'].isna().sum()` }, '0')),
  ),
  work(
    'ports-of-hosts',
    rounds(16, (n) =>
      n % 4 === 0
        ? bashFailed(
            `nc -zv 10.0.0.${n} 5432`,
            `nc: connect to 10.0.0.${n} port 5432 (tcp) failed: Connection refused`,
          )
        : bash(
            `nc -zv 10.0.0.${n} 5432`,
            `Connection to 10.0.0.${n} 5432 port [tcp/postgresql] succeeded!`,
          ),
    ),
  ),
  work(
    'counts-of-an-audit',
    rounds(12, (n) =>
      ok(
        'mcp__postgres__query',
        { sql: `SELECT count(*) FROM ${p(n)}_events WHERE user_id IS NULL` },
        '[{"count":"0"}]',
      ),
    ),
  ),
  work(
    'pictures-of-a-book',
    rounds(10, (n) =>
      ok(
        'generate_image',
        {
          prompt: `Page ${n}: ${p(n)} finds a ${turnOf(['key', 'map', 'boat', 'lamp', 'bell'], n)}`,
        },
        `{"status":"ok","url":"https://img.example.ai/${word(n, 14)}.png"}`,
      ),
    ),
    20,
  ),
  work('approval-of-a-person', [
    ok(
      'request_approval',
      { action: 'delete bucket acme-old' },
      '{"id":"ap_1","status":"pending"}',
    ),
    ...rounds(10, (n) =>
      after(
        60,
        ok(
          'get_approval',
          { id: 'ap_1' },
          `{"id":"ap_1","status":"${n < 10 ? 'pending' : 'approved'}"}`,
        ),
      ),
    ),
  ]),
  work('agent-that-works', [
    ok('spawn_agent', { message: 'Port the parser.' }, '{"agent_id":"0199aa77"}'),
    ...rounds(8, (n) =>
      after(
        60,
        ok(
          'wait_agent',
          { ids: ['0199aa77'], timeout_ms: 60_000 },
          n < 8
            ? '{"status":{},"timed_out":true}'
            : '{"status":{"0199aa77":{"completed":"The parser is ported, 31 tests pass."}},"timed_out":false}',
        ),
      ),
    ),
  ]),
  work(
    'game-of-cards',
    rounds(20, (n) =>
      ok(
        'play',
        { action: turnOf(['hit', 'stand'], n) },
        `You ${n % 2 === 0 ? 'stand' : 'draw'}: ${((n * 7) % 21) + 1}. Dealer: ${((n * 5) % 21) + 1}. Balance: ${100 + ((n * 13) % 40)}`,
      ),
    ),
    2,
  ),
  work(
    'maze',
    rounds(24, (n) =>
      ok(
        'move',
        { direction: turnOf(['north', 'north', 'east', 'north', 'west'], n) },
        `You are in room ${word(n, 5)}. Exits: ${turnOf(['north', 'north and east', 'west', 'all'], n)}.`,
      ),
    ),
    2,
  ),
  work(
    'settings-that-are-tuned',
    rounds(10, (n) => [
      ok('write_file', { path: '/etc/app.conf', content: `workers=${n}\n` }, 'Wrote 10 bytes'),
      bash(
        'systemctl restart app && ab -n 100 http://localhost/',
        `Requests per second:    ${300 + ((n * 97) % 150)}.12 [#/sec] (mean)`,
      ),
    ]),
  ),
]
