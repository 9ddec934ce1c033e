// Rules for the page's scripts. Without plugins, so that nothing but eslint itself is needed.

const browser = [
  'AbortSignal', 'Date', 'EventSource', 'MutationObserver', 'ResizeObserver', 'URL', 'WebSocket', 'addEventListener',
  'clearInterval', 'clearTimeout', 'document', 'fetch', 'getComputedStyle', 'innerHeight', 'innerWidth', 'localStorage', 'location',
  'matchMedia', 'navigator', 'performance', 'setInterval', 'setTimeout',
];

export default [{
  files: ['**/*.js', '**/*.mjs'],
  languageOptions: {
    ecmaVersion: 2023, sourceType: 'module', globals: Object.fromEntries(browser.map((name) => [name, 'readonly'])),
  },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules: {
    'array-callback-return': 'error', complexity: ['error', 14], 'consistent-return': 'error', curly: ['error', 'multi-line'],
    'default-case-last': 'error', eqeqeq: 'error', 'getter-return': 'error', 'max-lines': ['error', 250],
    'max-lines-per-function': ['error', 40], 'no-alert': 'error', 'no-console': 'error', 'no-const-assign': 'error',
    'no-debugger': 'error', 'no-dupe-args': 'error', 'no-dupe-class-members': 'error', 'no-dupe-else-if': 'error',
    'no-dupe-keys': 'error', 'no-else-return': 'error', 'no-empty': 'error', 'no-eval': 'error', 'no-fallthrough': 'error',
    'no-implicit-globals': 'error', 'no-implied-eval': 'error', 'no-loop-func': 'error', 'no-new-func': 'error',
    'no-param-reassign': 'error', 'no-promise-executor-return': 'error', 'no-redeclare': 'error', 'no-script-url': 'error',
    'no-self-assign': 'error', 'no-self-compare': 'error', 'no-sequences': 'error', 'no-shadow': 'error', 'no-throw-literal': 'error',
    'no-undef': 'error', 'no-unreachable': 'error', 'no-unsafe-finally': 'error', 'no-unused-expressions': ['error', { allowShortCircuit: true }],
    'no-unused-private-class-members': 'error', 'no-unused-vars': 'error', 'no-use-before-define': ['error', { functions: false, classes: false, variables: false }],
    'no-useless-return': 'error', 'no-var': 'error', 'object-shorthand': 'error', 'prefer-const': 'error', 'prefer-template': 'error',
    'use-isnan': 'error', 'valid-typeof': 'error',
    'no-restricted-properties': ['error', { property: 'insertAdjacentHTML' }, { property: 'outerHTML' }, { object: 'document', property: 'write' }],
  },
}];
