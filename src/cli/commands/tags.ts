import type { Command } from 'commander'
import type { AddOptions } from '../actions/tag.ts'
import { declare, group, oneOf, perform, wholeNumber } from '../command.ts'
import { type Colour, colours } from '../words.ts'
import { pathHelp } from './files.ts'

const actions = () => import('../actions/tag.ts')
const favourites = () => import('../actions/favourite.ts')

const colourOption = () => oneOf('--colour <colour>', 'its colour', colours)
const inOption = ['--in <workspace>', 'of this workspace instead of your own files'] as const

export function declareTags(program: Command): void {
  const tags = group(program, 'tag', 'label files and folders with tags')

  const list = declare(tags, 'list [workspace]', {
    does: 'list the tags of your files, or of a workspace',
    details: 'Files and folders in the trash count, too. satchel ls --tag shows what has a tag.',
    examples: ['tag list', 'tag list garden', 'ls --tag invoices'],
  })
  list.action((workspace: string | undefined) =>
    perform(list, async context => (await actions()).list(context, workspace)),
  )

  const add = declare(tags, 'add <tag> <path...>', {
    does: 'give a tag to files and folders of one drive',
    details: `All of them get it, or none. ${pathHelp}`,
    examples: [
      'tag add invoices docs/march.pdf docs/april.pdf',
      'tag add urgent garden:/plans --create --colour red',
    ],
  })
    .option('-c, --create', 'create the tag if there is none')
    .addOption(colourOption())
  add.action((tag: string, paths: string[], options: AddOptions) =>
    perform(add, async context => (await actions()).add(context, tag, paths, options)),
  )

  const remove = declare(tags, 'remove <tag> <path...>', {
    does: 'take a tag from files and folders of one drive',
    details: `The tag itself stays: satchel tag delete. ${pathHelp}`,
    examples: ['tag remove invoices docs/march.pdf'],
  })
  remove.action((tag: string, paths: string[]) =>
    perform(remove, async context => (await actions()).remove(context, tag, paths)),
  )

  const create = declare(tags, 'create <name>', {
    does: 'create a tag',
    details: 'Case and accents do not tell tags apart. A name has no comma.',
    examples: ['tag create invoices', 'tag create urgent --colour red --in garden'],
  })
    .addOption(colourOption())
    .option(...inOption)
  create.action((name: string, options: { in?: string; colour?: Colour }) =>
    perform(create, async context => (await actions()).create(context, name, options)),
  )

  const edit = declare(tags, 'edit <tag>', {
    does: 'rename a tag, or change its colour',
    examples: ['tag edit invoices --name bills', 'tag edit urgent --colour orange --in garden'],
  })
    .option('--name <name>', 'its new name')
    .addOption(colourOption())
    .option(...inOption)
  edit.action((tag: string, options: { in?: string; name?: string; colour?: Colour }) =>
    perform(edit, async context => (await actions()).edit(context, tag, options)),
  )

  const erase = declare(tags, 'delete <tag>', {
    does: 'delete a tag, which takes it from all files and folders',
    details: 'This cannot be undone.',
    examples: ['tag delete invoices', 'tag delete urgent --in garden'],
  }).option(...inOption)
  erase.action((tag: string, options: { in?: string }) =>
    perform(erase, async context => (await actions()).erase(context, tag, options)),
  )

  const star = declare(program, 'star <path...>', {
    does: 'mark files, folders and received shares as favourites',
    details: `Favourites are yours alone. ${pathHelp}
A received share is named by its link: satchel received.`,
    examples: ['star docs garden:/plans', 'star https://files.example.com/share/6mJ...'],
  })
  star.action((paths: string[]) =>
    perform(star, async context => (await favourites()).star(context, paths)),
  )

  const unstar = declare(program, 'unstar <path...>', {
    does: 'take the mark from favourites',
    details: pathHelp,
    examples: ['unstar docs', 'unstar https://files.example.com/share/6mJ...'],
  })
  unstar.action((paths: string[]) =>
    perform(unstar, async context => (await favourites()).unstar(context, paths)),
  )

  const marked = declare(program, 'favourites', {
    does: 'list your favourites, in your order',
    examples: ['favourites', 'favourites --json | jq -r .favourites[].path'],
  }).alias('favorites')
  marked.action(() => perform(marked, async context => (await favourites()).favourites(context)))

  const recent = declare(program, 'recent', {
    does: 'list what you have worked on lately, in all drives, the latest first',
    examples: ['recent', 'recent -n 5 --json'],
  }).option('-n, --limit <n>', 'maximum number', wholeNumber(1), 20)
  recent.action(({ limit }: { limit: number }) =>
    perform(recent, async context => (await favourites()).recent(context, limit)),
  )
}
