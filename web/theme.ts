// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, until a person chooses; the choice is kept.
const key = 'ringscope-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

function chosen(): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is switched off
  }
}

export function isDark(): boolean {
  const theme = document.documentElement.dataset['theme'] ?? chosen();
  return theme ? theme === 'dark' : systemDark.matches;
}

export function startTheme(button: HTMLElement, onChange: (dark: boolean) => void): void {
  const stored = chosen();
  if (stored === 'dark' || stored === 'light') document.documentElement.dataset['theme'] = stored;
  systemDark.addEventListener('change', () => onChange(isDark()));
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = theme;
    try {
      localStorage.setItem(key, theme);
    } catch {
      // It then lasts as long as the page.
    }
    onChange(isDark());
  });
}
