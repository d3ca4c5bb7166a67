declare module 'virtual:graph' {
  const schema: readonly import('./graphql/brief-schema.ts').BriefType[]
  export default schema
}

declare module 'virtual:lucide/*' {
  const icon: import('./parts/icon.tsx').LucideIcon
  export default icon
}
