import { describe, expect, it, test } from '@jest/globals'
import fc from 'fast-check'
import shellGuard from '../../../../services/guards/shell/guard.ts'
import type { JsonObject } from '../../../../shared/contract/guard/guard.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { declarationWith } from '../../../support/messages.ts'
import { passing, refused } from './commands.ts'
import { honestCommands } from './honest.ts'
import { hostile } from './hostile.ts'
import { codeOf, judged, usual } from './judged.ts'

describe('commands that pass', () => {
  test.each(passing)('%s', (command) =>
    expect(judged({ command })).toEqual({ ordinal: 3, verdict: 'allow' }),
  )
})

describe.each(Object.entries(refused))('commands that are refused as %s', (code, commands) => {
  test.each(commands)('%s', (command) => expect(codeOf(judged({ command }))).toBe(`shell.${code}`))
})

describe('attacks', () => {
  it.each(Object.entries(hostile))('are all refused in the class: %s', (_, commands) => {
    const passed = commands.filter((command) => codeOf(judged({ command })) === 'allow')
    expect(passed).toEqual([])
  })
})

describe('honest commands', () => {
  it('are the same for the same seed, and others for another seed', () => {
    expect(honestCommands(50, 7)).toEqual(honestCommands(50, 7))
    expect(honestCommands(50, 7)).not.toEqual(honestCommands(50, 8))
  })

  it('pass, except for at most 4 of 100', () => {
    const commands = honestCommands(2_000)
    const refusedOnes = commands.filter((command) => codeOf(judged({ command })) !== 'allow')
    expect(new Set(commands).size).toBeGreaterThan(1_000)
    expect(refusedOnes.length).toBeLessThanOrEqual(77)
  })

  it.each([
    ['f() { ls; }; f', 'it defines a function. Write the commands of the function where they run.'],
    ['eval "ls -la"', 'eval hides the command that runs. Write it out, without eval.'],
    [
      'kill $PPID',
      'kill … may reach the process that runs it. Send signals only to processes that you ' +
        'started: keep $! in a variable, or name a job such as %1.',
    ],
    [
      'man -P ./x ls',
      '"-P" is not among the arguments of man that this guard knows. Do without it, or ask a ' +
        'person to run it.',
    ],
  ])('get the plain form if they are refused: %s', (command, text) => {
    expect(judged({ command })).toMatchObject({ verdict: 'deny', text })
  })
})

describe('the source of a command, and its start', () => {
  it('accepts an array as a program with its arguments, without a shell', () => {
    expect(codeOf(judged({ command: ['rm', '-rf', '/etc/x'] }))).toBe('shell.write-outside')
    expect(codeOf(judged({ command: ['bash', '-lc', 'rm -rf /etc/x'] }))).toBe(
      'shell.write-outside',
    )
    expect(codeOf(judged({ command: ['echo', '$(rm /etc/x)', '> /etc/x'] }))).toBe('allow')
  })

  it.each([
    {},
    { command: null },
    { command: 7 },
    { command: [] },
    { command: ['ls', 1] },
    { cmd: 'ls' },
    { command: { a: 'ls' } },
  ])('refuses a call without a command: %j', (args) =>
    expect(codeOf(judged(args as JsonObject))).toBe('shell.unreadable'),
  )

  it('ignores a command that is only inherited', () => {
    expect(codeOf(judged({}, { argument: 'toString' }))).toBe('shell.unreadable')
  })

  it('reads the configured argument', () => {
    expect(codeOf(judged({ cmd: 'rm /etc/x', command: 'ls' }, { argument: 'cmd' }))).toBe(
      'shell.write-outside',
    )
  })

  it('refuses a relative path if the start folder is unknown, and passes it after a cd', () => {
    const { workingFolder: _, ...elsewhere } = usual
    const verdict = (command: string) => {
      const declaration = declarationWith({ name: 'bash', timeoutMs: 1 })
      const round = {
        conversation: 'c',
        turn: 1,
        round: 1,
        agent: 'a',
        time: 0,
        ended: [],
        calls: [
          {
            ordinal: 0,
            name: 'bash',
            arguments: { command },
            rawArguments: JSON.stringify({ command }),
            source: 'deltas' as const,
            enforced: true,
            declaration,
          },
        ],
      }
      return codeOf(shellGuard(elsewhere).judge(undefined, round).verdicts[0]!)
    }
    expect(verdict('touch x')).toBe('shell.unknowable')
    expect(verdict('cd /work && touch x')).toBe('allow')
    expect(verdict('cd /work; touch x')).toBe('shell.unknowable')
  })

  it('starts in the folder that the call names', () => {
    expect(codeOf(judged({ command: 'touch x', cwd: '/etc' }, { folderArgument: 'cwd' }))).toBe(
      'shell.write-outside',
    )
    expect(codeOf(judged({ command: 'touch x', cwd: 'sub' }, { folderArgument: 'cwd' }))).toBe(
      'allow',
    )
    expect(codeOf(judged({ command: 'touch x', cwd: '$HOME' }, { folderArgument: 'cwd' }))).toBe(
      'shell.unknowable',
    )
    expect(codeOf(judged({ command: 'touch x', cwd: 7 }, { folderArgument: 'cwd' }))).toBe(
      'shell.unknowable',
    )
  })

  it('allows only the named commands, also inside other commands', () => {
    const only = { onlyCommands: ['ls', 'sudo', 'bash'] }
    expect(codeOf(judged({ command: 'cd src && ls && echo done' }, only))).toBe('allow')
    expect(codeOf(judged({ command: 'sudo nmap x' }, only))).toBe('shell.not-allowed')
    expect(codeOf(judged({ command: "bash -c 'nmap x'" }, only))).toBe('shell.not-allowed')
    expect(codeOf(judged({ command: 'source x.sh' }, only))).toBe('shell.not-allowed')
    expect(codeOf(judged({ command: '/usr/bin/ls' }, only))).toBe('allow')
    for (const command of ['./ls', '/work/x/ls a'])
      expect(codeOf(judged({ command }, only))).toBe('shell.not-allowed')
  })

  it('gives the commands that it does not know to a person if it may ask', () => {
    const asking = { onUnknown: 'ask' as const }
    const verdictOf = (command: string) => judged({ command }, asking)
    expect(verdictOf('mytool --fast')).toMatchObject({ verdict: 'ask', code: 'shell.unlisted' })
    expect(verdictOf('tree -o x')).toMatchObject({ verdict: 'ask', code: 'shell.unlisted' })
    expect(verdictOf('rm -rf "$DIR"')).toMatchObject({ verdict: 'ask', code: 'shell.unknowable' })
    expect(verdictOf('rm /etc/x')).toMatchObject({ verdict: 'deny', code: 'shell.write-outside' })
    expect(verdictOf('cat .env')).toMatchObject({ verdict: 'deny', code: 'shell.secret' })
    expect(verdictOf('ls')).toMatchObject({ verdict: 'allow' })
  })

  it('allows a program that the options name, and judges a command in its arguments', () => {
    const also = { alsoCommands: ['mytool'] }
    expect(codeOf(judged({ command: 'mytool --fast src' }))).toBe('shell.unlisted')
    expect(codeOf(judged({ command: 'mytool --fast src' }, also))).toBe('allow')
    expect(codeOf(judged({ command: 'mytool rm -rf /etc' }, also))).toBe('shell.write-outside')
    expect(codeOf(judged({ command: 'curl -s http://a | mytool' }, also))).toBe(
      'shell.net-into-shell',
    )
  })

  it('runs a file of the project only if the start folder is known', () => {
    expect(codeOf(judged({ command: './run.sh' }))).toBe('allow')
    const elsewhere = { workingFolder: '/opt' }
    expect(codeOf(judged({ command: './run.sh' }, elsewhere))).toBe('shell.unlisted')
  })

  it('tells the model the reason for a refusal and an acceptable form', () => {
    expect(judged({ command: 'cd /etc; rm hosts' })).toEqual({
      ordinal: 3,
      verdict: 'deny',
      code: 'shell.write-outside',
      text:
        'rm would change "hosts" (/etc/hosts), which is not below /work or /tmp. ' +
        'Change only what is below /work or /tmp. A cd may fail: join it to what follows with &&.',
      evidence: 'rm would change "hosts" (/etc/hosts), which is not below /work or /tmp',
    })
  })

  it.each([
    ['tools', { tools: [] }],
    ['allowedFolders', { allowedFolders: [] }],
    ['allowedFolders', { allowedFolders: ['work'] }],
    ['allowedFolders', { allowedFolders: ['/work/../etc'] }],
    ['workingFolder', { workingFolder: '~' }],
    ['onlyCommands', { onlyCommands: [] }],
    ['alsoCommands', { alsoCommands: [] }],
    ['onUnknown', { onUnknown: 'allow' as never }],
    ['deadlineMs', { deadlineMs: 0 }],
    ['deadlineMs', { deadlineMs: '500' as never }],
    ['argument', { argument: '' }],
  ])('refuses to start with a wrong %s', (option, options) => {
    expect(() => shellGuard({ ...usual, ...options })).toThrow(`the shell guard's ${option} is`)
  })
})

describe('any command', () => {
  const word = fc.constantFrom(
    ...[
      'rm',
      '-rf',
      '/etc',
      '/work',
      'x',
      '$X',
      '"$X"',
      "'a b'",
      '$(',
      ')',
      '`',
      '{a,b}',
      '|',
      '||',
      '&&',
      ';',
      '&',
      '>',
      '>>',
      '<<EOF',
      '\n',
      'EOF',
    ],
    ...[
      'if',
      'then',
      'fi',
      'for',
      'in',
      'do',
      'done',
      'while',
      'case',
      'esac',
      'f()',
      '{',
      '}',
      '((',
      '))',
      '[[',
      ']]',
      'cd',
      '..',
      'sudo',
      'bash',
      '-c',
    ],
    ...[
      'curl',
      'eval',
      'xargs',
      'find',
      '-exec',
      '{}',
      '\\;',
      '~',
      '*',
      '=',
      'X=1',
      '<(',
      '!',
      'time',
      '"',
      "'",
      '\\',
      '#',
      '$((',
      '${X:-',
      'break',
      'exit',
      'trap',
      'git',
      'tar',
    ],
  )

  it('gets one verdict that a guard may give', () => {
    const script = fc.oneof(
      fc.array(word, { maxLength: 40 }).map((words) => words.join(' ')),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ maxLength: 200 }),
    )
    fc.assert(
      fc.property(script, (command) => {
        const verdict = judged({ command })
        if (verdict.verdict === 'allow') return
        expect(verdict.code).toMatch(/^[a-z0-9_.-]{1,64}$/)
        expect(Buffer.byteLength(verdict.text)).toBeGreaterThan(0)
        expect(Buffer.byteLength(verdict.text)).toBeLessThanOrEqual(limits.guardTextBytesMax)
        expect(Buffer.byteLength(verdict.evidence ?? '')).toBeLessThanOrEqual(
          limits.guardEvidenceBytesMax,
        )
      }),
      { numRuns: 1_500 },
    )
  })

  it('never passes with a write to /etc, in any context', () => {
    const around = fc.constantFrom(
      (c: string) => `( ${c} )`,
      (c: string) => `{ ${c}; }`,
      (c: string) => `if true; then ${c}; fi`,
      (c: string) => `for i in 1 2; do ${c}; done`,
      (c: string) => `while false; do ${c}; done`,
      (c: string) => `ls && ${c}`,
      (c: string) => `ls | ${c}`,
      (c: string) => `echo $( ${c} )`,
      (c: string) => `echo "a $( ${c} ) b"`,
      (c: string) => `cat <( ${c} )`,
      (c: string) => `cd /work/x && ${c}`,
      (c: string) => `f() { ${c}; }; f`,
      (c: string) => `X=1 ${c.startsWith('rm') ? c : `true; ${c}`}`,
      (c: string) => `${c} &`,
      (c: string) => `! ${c.startsWith('rm') ? c : `{ ${c}; }`}`,
      (c: string) => `bash -c '${c.replaceAll("'", "'\\''")}'`,
      (c: string) => `eval '${c.replaceAll("'", "'\\''")}'`,
      (c: string) => `case x in x) ${c};; esac`,
    )
    const core = fc.constantFrom('rm /etc/hosts', 'rm -rf ../../etc', 'rm "/et"c/x')
    fc.assert(
      fc.property(core, fc.array(around, { maxLength: 5 }), (command, layers) => {
        const nested = layers.reduce<string>((inner, layer) => layer(inner), command)
        expect([nested, codeOf(judged({ command: nested }))]).not.toEqual([nested, 'allow'])
      }),
      { numRuns: 400 },
    )
  })

  it.each([
    ['quotes', '"'.repeat(50_000)],
    ['open substitutions', '$('.repeat(20_000)],
    ['open groups', '('.repeat(50_000)],
    ['braces', `echo ${'{a,b}'.repeat(5_000)}`],
    ['nested braces', `echo ${'{a,'.repeat(5_000)}b${'}'.repeat(5_000)}`],
    ['assignments', Array.from({ length: 5_000 }, (_, i) => `v${i}=x`).join(';')],
    ['texts that double', `a=xxxxxxxx;${'a=$a$a;'.repeat(2_000)}`],
    [
      'functions that double',
      Array.from({ length: 60 }, (_, i) => `f${i + 1}() { f${i}; f${i}; }`).join(';'),
    ],
    ['nested loops', `${'for a in 1 2 3 4 5 6 7 8; do '.repeat(30)}cd x;${'done;'.repeat(30)}`],
    ['stars', `cat ${'*a'.repeat(50_000)}b`],
    ['words', 'x '.repeat(100_000)],
    ['pipes', 'x |'.repeat(20_000)],
    ['backticks', '`'.repeat(50_000)],
    ['here-documents', 'cat <<A\n'.repeat(10_000)],
    ['branches', `${'if x; then a=1; else a=2; fi;'.repeat(3_000)}`],
    ['conditions', 'cd a && '.repeat(10_000)],
    ['elifs', `if a; then b; ${'elif a; then b; '.repeat(5_000)}fi`],
    ['redirections', '> a '.repeat(30_000)],
    ['arithmetic', `echo $((${'('.repeat(10_000)}`],
    ['subscripts', `x='${'['.repeat(60_000)}'`],
    ['prints', `awk '${'print '.repeat(20_000)}' a`],
    ['lines of SQL', `sqlite3 a '${'\n'.repeat(120_000)}'`],
    ['commands of sed', `sed '${'s/a/b/;'.repeat(15_000)}' a`],
    ['open expressions of sed', `sed '${'s/a'.repeat(30_000)}' a`],
    ['addresses of sed', `sed '${'1,'.repeat(50_000)}' a`],
    ['texts of sed', `sed 'a${'\\\n'.repeat(50_000)}' a`],
    ['calls of Python', `python3 -c '${'open('.repeat(20_000)}'`],
    ['backticks of Ruby', `ruby -e '${'` '.repeat(50_000)}'`],
    ['names of Node.js', `node -e '${'process . '.repeat(12_000)}'`],
    ['wrappers', 'time '.repeat(20_000)],
    ['commands for an unknown program', `x ${'env rm '.repeat(15_000)}`],
    ['options', `x ${'--ab'.repeat(30_000)}pager`],
    ['secrets', `cat ${'/.e*'.repeat(30_000)}`],
    ['joined names', `cat ${'a:'.repeat(60_000)}`],
  ])('is judged in bounded time with many %s', (_, command) => {
    expect(judged({ command }).ordinal).toBe(3)
  })

  it('costs work that grows only as fast as its length', () => {
    // Time would measure the machine. Steps are counted, so a command that needs more than the
    // allowed number is refused.
    expect(codeOf(judged({ command: 'ls; '.repeat(1_500) }))).toBe('allow')
    expect(codeOf(judged({ command: 'ls; '.repeat(30_000) }))).toBe('shell.unknowable')
    expect(codeOf(judged({ command: ' '.repeat(300_000) }))).toBe('shell.unknowable')
  })
})
