import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { conflictPath } from '../../src/cli/two-way/conflict-name.ts'
import { plan } from '../../src/cli/two-way/plan.ts'
import { Tree } from '../../src/cli/two-way/tree.ts'
import { rounds } from '../support/rounds.ts'
import { type Deed, Simulation } from './two-way-model.ts'

const RUNS = Number(process.env.TWO_WAY_RUNS ?? rounds(300, 5000))

/** Two sides with the same files, and the actions of a sync after the given changes. */
function after(files: string[], local: Deed[], remote: Deed[]): Simulation & { done: string[] } {
  const simulation = new Simulation()
  for (const path of files) {
    for (const [i] of [...path.matchAll(/\//g)].entries())
      simulation.do('local', {
        does: 'mkdir',
        path: path
          .split('/')
          .slice(0, i + 1)
          .join('/'),
      })
    simulation.do(
      'local',
      path.endsWith('/') ? { does: 'mkdir', path: path.slice(0, -1) } : { does: 'write', path },
    )
  }
  simulation.settle()
  for (const deed of local) simulation.do('local', deed)
  for (const deed of remote) simulation.do('remote', deed)
  const done: string[] = []
  for (let rounds = 0; simulation.round(Number.POSITIVE_INFINITY) > 0; rounds++) {
    if (rounds > 30) throw new Error('The rounds do not converge.')
    done.push(
      ...simulation.actions.map(
        ({ side, action, from, path }) => `${side} ${action} ${from ? `${from} -> ` : ''}${path}`,
      ),
    )
  }
  expect(simulation.local.shown()).toEqual(simulation.remote.shown())
  // An action that is planned again after other actions counts once.
  return Object.assign(simulation, { done: [...new Set(done)] })
}
const write = (path: string): Deed => ({ does: 'write', path })
const remove = (path: string): Deed => ({ does: 'remove', path })
const restore = (path: string): Deed => ({ does: 'restore', path })
const move = (path: string, to: string): Deed => ({ does: 'move', path, to })

describe('A two-way plan', () => {
  it.each<[string, string[], Deed[], Deed[], string[]]>([
    ['sends new entries', [], [write('a')], [write('b')], ['remote upload a', 'local download b']],
    [
      'replaces changed files',
      ['a', 'b'],
      [write('a')],
      [write('b')],
      ['remote upload a', 'local download b'],
    ],
    [
      'deletes missing entries',
      ['a', 'd/b', 'd/c'],
      [remove('a')],
      [remove('d')],
      ['remote delete a', 'local delete d/b', 'local delete d/c', 'local delete d'],
    ],
    [
      'deletes a remote folder in one step',
      ['d/b', 'd/e/c'],
      [remove('d')],
      [],
      ['remote delete d'],
    ],
    [
      'keeps changed files in a deleted folder',
      ['d/a', 'd/b'],
      [remove('d')],
      [write('d/a')],
      ['local download d/a', 'remote delete d/b'],
    ],
    [
      'renames a file, and changes the renamed file',
      ['a'],
      [move('a', 'b')],
      [{ does: 'rewrite', path: 'a' }],
      ['remote move a -> b', 'local download b'],
    ],
    [
      'renames a folder with its contents',
      ['d/a', 'd/e/b'],
      [],
      [move('d', 'x')],
      ['local move d -> x'],
    ],
    [
      'renames an entry in a renamed folder',
      ['d/a'],
      [move('d', 'x'), move('x/a', 'x/b')],
      [],
      ['remote move d -> x', 'remote move x/a -> x/b'],
    ],
    [
      'moves into a new folder',
      ['a'],
      [{ does: 'mkdir', path: 'n' }, move('a', 'n/a')],
      [],
      ['remote move a -> n/a'],
    ],
    [
      'renames one after the other',
      ['a', 'b'],
      [],
      [move('b', 'c'), move('a', 'b')],
      ['local move b -> c', 'local move a -> b'],
    ],
    ['prefers the remote name', ['a'], [move('a', 'b')], [move('a', 'c')], ['local move b -> c']],
    [
      'does nothing for the same on both sides',
      ['a', 'b'],
      [move('a', 'c'), remove('b')],
      [move('a', 'c'), remove('b')],
      [],
    ],
    [
      'keeps both versions',
      ['a.txt'],
      [write('a.txt')],
      [write('a.txt')],
      ['local conflict a.txt', 'remote upload a (conflict day host).txt'],
    ],
    [
      'keeps an entry that is renamed on one side and deleted on the other',
      ['a'],
      [move('a', 'b')],
      [remove('a')],
      ['remote upload b'],
    ],
    [
      'replaces a file by a folder',
      ['a'],
      [remove('a'), { does: 'mkdir', path: 'a' }, write('a/b')],
      [],
      ['remote delete a', 'remote upload a/b'],
    ],
    [
      'replaces a file by a folder that contains the file',
      ['a'],
      [move('a', 'b'), { does: 'mkdir', path: 'a' }, move('b', 'a/b')],
      [],
      ['remote delete a', 'remote upload a/b'],
    ],
    [
      'keeps a changed file beside a folder',
      ['a'],
      [write('a')],
      [remove('a'), { does: 'mkdir', path: 'a' }, write('a/b')],
      ['local conflict a', 'local download a/b', 'remote upload a (conflict day host)'],
    ],
  ])('%s', (_what, files, local, remote, expected) => {
    expect(after(files, local, remote).done.sort()).toEqual(expected.sort())
  })

  it('merges both sides without a known previous state, and deletes nothing', () => {
    const simulation = after(['same', 'd/a'], [remove('same')], [])
    simulation.do('remote', write('only there'))
    simulation.agreed = new Map()
    simulation.settle()
    expect(Object.keys(simulation.local.shown())).toEqual(['d', 'd/a', 'only there'])
    expect([simulation.local.kept.size, simulation.remote.kept.size]).toEqual([0, 1])
  })

  it('keeps a file that reappears before its deletion arrives', () => {
    const simulation = after(['a'], [remove('a')], [])
    const before = { a: [...simulation.remote.kept][0] }
    expect(simulation.remote.shown()).toEqual({})
    simulation.do('local', restore('a'))
    simulation.settle()
    expect(simulation.remote.shown()).toEqual(before)
  })

  it('keeps a file that was moved back while another one took its former place', () => {
    const simulation = after(['b'], [], [])
    const before = simulation.remote.shown().b
    simulation.do('remote', move('b', 'c'))
    simulation.round(1)
    simulation.do('remote', move('c', 'b'))
    simulation.round(1, () => simulation.do('remote', write('c')))
    simulation.round(0)
    simulation.settle()
    expect(Object.values(simulation.local.shown())).toContain(before)
    expect(simulation.remote.shown()).toEqual(simulation.local.shown())
  })

  it('treats files sent since the last listing as known to both sides', () => {
    const local = new Tree([
      [
        'a',
        { kind: 'file' as const, size: 2, md5: 'typed', identity: null, mtimeMs: 0, ctimeMs: 0 },
      ],
    ])
    const remote = new Tree([
      ['a', { kind: 'file' as const, id: 'r', revision: 1, size: 3, md5: 'sent' }],
    ])
    const sent = new Map([['a', { size: 3, md5: 'sent' }]])
    const { actions, agreed } = plan({ local, base: new Tree(), remote }, { label: 'x', sent })
    expect(actions).toEqual([
      { side: 'remote', action: 'upload', path: 'a', size: 2, replaces: true },
    ])
    expect(agreed?.get('a')).toMatchObject({ id: 'r', md5: 'sent' })
  })
})

it('A conflict that is killed between its two steps leaves the name to the remote version', () => {
  const simulation = after(['a'], [], [])
  simulation.do('local', { does: 'rewrite', path: 'a' })
  simulation.do('remote', { does: 'rewrite', path: 'a' })
  const theirs = simulation.remote.shown().a
  simulation.round(1)
  expect(Object.keys(simulation.local.shown())).toEqual(['a (conflict day host)'])
  simulation.settle()
  expect(simulation.local.shown()).toEqual({
    a: theirs,
    'a (conflict day host)': expect.any(String),
  })
})

describe('After a kill, a sync', () => {
  /** Kills the sync after each number of actions. Users act before the next process starts. */
  function killedAnywhere(
    files: string[],
    before: (one: Simulation) => void,
    then: (one: Simulation) => void,
  ): void {
    for (let steps = 0; steps < 20; steps++) {
      const simulation = after(files, [], [])
      before(simulation)
      for (let [round, left] = [0, steps]; round < 5 && left > 0; round++)
        left -= simulation.round(left)
      simulation.kill()
      then(simulation)
      simulation.settle()
      const there = simulation.local.contents()
      expect({ steps, lost: [...simulation.alive].filter(content => !there.has(content)) }).toEqual(
        { steps, lost: [] },
      )
      expect(simulation.remote.shown()).toEqual(simulation.local.shown())
    }
  }
  const sides = ['local', 'remote'] as const

  const otherThan = (side: 'local' | 'remote') => (side === 'local' ? 'remote' : 'local')
  const removeAll = (side: 'local' | 'remote') => (one: Simulation) => {
    for (const path of ['d', 'a']) one.do(side, remove(path))
  }

  it.each(sides)('deletes nothing because of a failed move (%s)', side => {
    const begin = (simulation: Simulation) => {
      simulation.do(side, move('d', 'e'))
      for (const path of ['d', 'e/x', 'e/z']) simulation.blocked.add(`${otherThan(side)} ${path}`)
    }
    killedAnywhere(['d/x', 'd/y', 'd/z'], begin, one => expect(one.taken()).toEqual([]))
  })

  it.each(sides)(
    'does not treat its own deletions as a user’s, and restores a file for the user (%s)',
    side => {
      const files = ['d/x', 'd/y', 'a']
      killedAnywhere(files, removeAll(side), one => {
        for (const path of ['d', 'a']) one.do(side, restore(path))
      })
      killedAnywhere(files, removeAll(side), one => {
        const other = otherThan(side)
        for (const path of ['d', 'd/x', 'd/y', 'a'])
          if (!one[other].tree.at(path)) one.do(other, restore(path))
      })
    },
  )

  it.each(sides)('treats its own moves as unchanged files (%s)', side => {
    const rename = (one: Simulation) => one.do(side, move('a', 'b'))
    killedAnywhere(
      ['a'],
      one => one.do(side, { does: 'rewrite', path: 'a' }),
      one => {
        if (one.local.shown().a === one.remote.shown().a) return
        rename(one)
        one.settle()
        expect(Object.keys(one.local.shown())).toEqual(['b'])
      },
    )
  })

  it.each(sides)(
    'does not treat its own copies as a user’s changes, and keeps an undone change (%s)',
    side => {
      const swap = (simulation: Simulation) => {
        for (const [from, to] of [
          ['a', 'c'],
          ['b', 'a'],
          ['c', 'b'],
        ] as const)
          simulation.do(side, move(from, to))
      }
      killedAnywhere(['a', 'b'], swap, swap)
      killedAnywhere(
        ['a', 'b'],
        one => one.do(side, write('a')),
        one => one.do(side, restore('a')),
      )
    },
  )
})

describe('The name of a conflict', () => {
  it('keeps the extension, is free, and is not too long', () => {
    const taken = new Set(['d/a (conflict x).txt'])
    const nameOf = (path: string) => conflictPath(path, 'x', each => taken.has(each))
    expect(nameOf('d/a.txt')).toBe('d/a (conflict x 2).txt')
    expect(nameOf('.profile')).toBe('.profile (conflict x)')
    expect(Buffer.byteLength(nameOf(`${'ü'.repeat(125)}.txt`))).toBeLessThanOrEqual(255)
  })
})

describe('Syncs that are killed while users keep working', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const path = fc
    .oneof(
      { weight: 4, arbitrary: fc.tuple(name) },
      { weight: 3, arbitrary: fc.tuple(name, name) },
      fc.tuple(name, name, name),
    )
    .map(names => names.join('/'))
  const deed: fc.Arbitrary<Deed> = fc.oneof(
    fc.record({
      does: fc.constantFrom('write', 'write', 'rewrite', 'remove', 'mkdir', 'restore' as const),
      path,
    }) as fc.Arbitrary<Deed>,
    fc.record({ does: fc.constant('move' as const), path, to: path }),
  )
  const side = fc.constantFrom('local' as const, 'remote' as const)
  const step = fc.oneof(
    { weight: 25, arbitrary: fc.record({ kind: fc.constant('deed' as const), side, deed }) },
    {
      weight: 10,
      arbitrary: fc.record({
        kind: fc.constant('round' as const),
        steps: fc.nat(6),
        meanwhile: fc.array(fc.record({ side, deed }), { maxLength: 2 }),
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('block' as const), side, path }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const) }) },
  )

  it('end with equal sides, and lose nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), steps => {
        const simulation = new Simulation()
        for (const each of steps) {
          if (each.kind === 'deed') simulation.do(each.side, each.deed)
          else if (each.kind === 'settle') simulation.settle()
          else if (each.kind === 'forget') simulation.forget()
          else if (each.kind === 'block') simulation.blocked.add(`${each.side} ${each.path}`)
          else
            simulation.round(each.steps, () =>
              each.meanwhile.forEach(({ side, deed }) => void simulation.do(side, deed)),
            )
          expect(simulation.taken()).toEqual([])
        }
        simulation.settle()
        expect(simulation.local.shown()).toEqual(simulation.remote.shown())
        const there = simulation.local.contents()
        expect([...simulation.alive].filter(content => !there.has(content))).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})
