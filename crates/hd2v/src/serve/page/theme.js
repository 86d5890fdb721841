// Light or dark before anything is drawn: what was chosen here, or what the system says. No module, so that it runs first.
(function () {
  const kept = () => { try { return localStorage.getItem('hd2v.theme'); } catch { return null; } };
  const system = matchMedia('(prefers-color-scheme: dark)');
  const root = document.documentElement;
  const show = (theme) => {
    root.dataset.theme = theme;
    dispatchEvent(new Event('theme'));
  };
  const now = () => kept() || (system.matches ? 'dark' : 'light');
  show(now());
  system.addEventListener('change', () => show(now()));
  window.toggleTheme = () => {
    const theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try { localStorage.setItem('hd2v.theme', theme); } catch { /* it lasts as long as the page */ }
    show(theme);
  };
})();
