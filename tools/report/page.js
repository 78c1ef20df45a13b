// Plots, the choice of a file, and tables that can be sorted. Without it the page is its tables.
(function () {
  'use strict';
  document.documentElement.classList.add('js');
  const data = JSON.parse(document.getElementById('data').textContent);
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  // ---- numbers, as the command writes them ----
  const count = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
  function bytes(n) {
    if (n < 1024) return count(n) + (n === 1 ? ' byte' : ' bytes');
    const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let value = n / 1024, unit = 0;
    while (value >= 1024 && unit + 1 < units.length) { value /= 1024; unit += 1; }
    return (Number.isInteger(value) ? String(value) : value.toFixed(1)) + ' ' + units[unit];
  }
  const brief = (n) => (n >= 1e9 ? n / 1e9 + ' G' : n >= 1e6 ? n / 1e6 + ' M' : n >= 1e3 ? n / 1e3 + ' k' : String(n));
  const seconds = (s) => s.toFixed(s < 100 ? 3 : 1) + ' s';

  // ---- what each plot shows: bars by label, and the rows of its table ----
  const shows = {
    funnel(f) {
      const labels = ['pieces put', 'runs of a node', 'file writes'];
      return {
        labels: f.funnel.map((x, i) => labels[i] + (x[0] > 0 ? ': ' + bytes(Math.round(x[1] / x[0])) : '')),
        sets: [{ label: 'how many', data: f.funnel.map((x) => x[0]) }], log: true, lying: true, unit: count,
        rows: f.funnel.map((x, i) => [labels[i], count(x[0]), bytes(x[1]), x[0] > 0 ? bytes(Math.round(x[1] / x[0])) : '']),
      };
    },
    stages(f) {
      const at = data.stages.map((name, i) => i).filter((i) => f.max[i] >= 0.0005);
      return {
        labels: at.map((i) => data.stages[i]), lying: true, unit: seconds,
        sets: [{ label: 'slowest rank', data: at.map((i) => f.max[i]) },
               { label: 'average rank', data: at.map((i) => f.mean[i]) }],
        rows: data.stages.map((name, i) => [name, seconds(f.max[i]), seconds(f.mean[i])]),
      };
    },
    sizes(f) {
      return {
        labels: f.sizes.map((x) => bytes(x[0])), unit: count,
        sets: [{ label: 'file writes', data: f.sizes.map((x) => x[1]) }],
        rows: f.sizes.map((x) => [bytes(x[0]) + ' to ' + bytes(2 * x[0]), count(x[1])]),
      };
    },
    ranks(f) {
      const name = (i) => f.group === 1 ? String(i)
        : i * f.group + ' to ' + (Math.min((i + 1) * f.group, f.ranks) - 1);
      return {
        labels: f.all.map((x, i) => name(i)), unit: seconds, stacked: true,
        sets: [{ label: 'file writes and reads', data: f.file },
               { label: 'all else in Forebay', data: f.all.map((x, i) => Math.max(0, x - f.file[i])) }],
        rows: f.all.map((x, i) => [name(i), seconds(x), seconds(f.file[i])]),
      };
    },
    times(f) {
      return {
        labels: f.runs.map((x, i) => String(i + 1)), unit: seconds,
        sets: [{ label: 'Forebay', data: f.runs.map((x) => x[1]) }, { label: 'stock', data: f.runs.map((x) => x[0]) }],
        rows: f.runs.map((x, i) => [String(i + 1), seconds(x[0]), seconds(x[1])]),
      };
    },
  };

  function fill(table, rows) {
    const body = table.tBodies[0];
    body.textContent = '';
    for (const row of rows) {
      const line = body.insertRow();
      for (const cell of row) line.insertCell().textContent = cell;
    }
  }

  const charts = {};
  function draw(id, shown) {
    if (charts[id]) charts[id].destroy();
    delete charts[id];
    const canvas = document.getElementById(id + '-canvas');
    const some = shown.sets.some((set) => set.data.some((x) => x > 0));
    canvas.parentNode.hidden = !some || !window.Chart;
    document.getElementById(id + '-nothing').hidden = some;
    if (!some || !window.Chart) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue('--' + name).trim();
    const values = { beginAtZero: true, type: shown.log ? 'logarithmic' : 'linear', stacked: !!shown.stacked,
                     grid: { color: color('grid') }, border: { display: false },
                     ticks: { color: color('dim'), maxTicksLimit: 6, maxRotation: 0, callback: function (value) {
                       const power = Math.log10(value);
                       if (shown.log && (!Number.isInteger(power) || (this.width < 250 && power % 2 !== 0))) return null;
                       return shown.unit === seconds ? value + ' s' : shown.log ? brief(value) : count(value);
                     } } };
    if (shown.log) values.min = 0.9;
    const names = { grid: { display: false }, stacked: !!shown.stacked, ticks: { color: color('text'), autoSkip: true } };
    charts[id] = new window.Chart(canvas, {
      type: 'bar',
      data: { labels: shown.labels, datasets: shown.sets.map((set, i) => ({
        label: set.label, data: set.data.map((x) => (x > 0 ? x : null)), backgroundColor: color(i === 0 ? 'one' : 'two'), borderRadius: 3, maxBarThickness: 34,
        minBarLength: 2 })) },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: shown.lying ? 'y' : 'x',
        scales: shown.lying ? { x: values, y: names } : { x: names, y: values },
        plugins: {
          legend: { display: shown.sets.length > 1, position: 'bottom', labels: { color: color('text'), boxWidth: 12 } },
          tooltip: { callbacks: { label: (item) => item.dataset.label + ': ' + shown.unit(item.raw) } },
        },
      },
    });
  }

  const chosen = document.getElementById('chosen');
  function show() {
    const file = data.files[chosen ? chosen.value || 0 : 0];
    for (const section of all('.chart')) {
      const id = section.getAttribute('aria-labelledby').replace('-title', '');
      const shown = shows[id](file);
      fill(document.getElementById(id + '-table'), shown.rows);
      draw(id, shown);
    }
  }
  if (data.files.length > 0) {
    if (chosen) {
      data.files.forEach((file, i) => chosen.add(new Option(file.name, i)));
      chosen.addEventListener('change', show);
      chosen.parentNode.hidden = data.files.length < 3;
    }
    show();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
    matchMedia('print').addEventListener('change', show);
  }

  // ---- the table of files ----
  const files = document.getElementById('files');
  if (files) {
    const rows = all('tbody tr', files);
    const key = (row, column) => {
      const cell = row.cells[column];
      return column === 0 ? cell.textContent : cell.dataset.sort === undefined ? cell.textContent : cell.dataset.sort;
    };
    all('thead th', files).forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const falling = head.getAttribute('aria-sort') !== 'descending';
        all('thead th', files).forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', falling ? 'descending' : 'ascending');
        rows.sort((a, b) => {
          const x = key(a, column), y = key(b, column);
          const order = x !== '' && y !== '' && !isNaN(x) && !isNaN(y) ? x - y : x < y ? -1 : x > y ? 1 : 0;
          return falling ? -order : order;
        });
        files.tBodies[0].append(...rows);
      });
    });
    const filter = document.getElementById('filter');
    const shown = document.getElementById('shown');
    filter.addEventListener('input', () => {
      const word = filter.value.toLowerCase();
      let left = 0;
      for (const row of rows) {
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(word);
        left += row.hidden ? 0 : 1;
      }
      shown.textContent = word === '' ? '' : left + ' of ' + rows.length;
    });
  }

  // On paper nothing can be opened.
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('details:not([open])');
    closed.forEach((element) => { element.open = true; });
    show();
  });
  addEventListener('afterprint', () => { closed.forEach((element) => { element.open = false; }); });
})();
