#!/usr/bin/perl
#
# coverage.pl SOURCES OUTPUT DIRECTORY...
#
# Adds up what gcov knows of builds of the files SOURCES/*/*.[ch] in the
# directories, writes a list of what was not executed to OUTPUT, and prints the
# coverage by file and in all.
#
# A line counts as executed if one build has executed it; so does a branch.  The
# branches inside ereport() and elog() are the server's and do not count, lines
# do.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename;
use File::Find;
use JSON::PP;

my ($sources, $output, @dirs) = @ARGV;
die "usage: coverage.pl SOURCES OUTPUT DIRECTORY...\n" if !@dirs;

# A file as it is called here, with its room: names occur in several.
sub room
{
	return shift =~ m{([^/]+/[^/]+)$} ? $1 : '';
}

my %text;
foreach my $path (glob "$sources/*/*.[ch]")
{
	open(my $fh, '<', $path) or die "$path: $!";
	$text{ room($path) } = [ '', <$fh> ];
}
die "there are no sources in $sources\n" if !%text;

my @data;
find({ wanted => sub { push @data, $File::Find::name if /\.gcda$/ },
	no_chdir => 1 }, map { abs_path($_) } @dirs);
die "there are no .gcda files\n" if !@data;

# {file}{line} = executions; {file}{line}{function, number} = times taken
my (%lines, %branches);
foreach my $data (@data)
{
	my ($name, $dir) = fileparse($data);

	chdir($dir) or die "$dir: $!";
	open(my $gcov, '-|', 'gcov', '--json-format', '--stdout',
		'--branch-probabilities', $name) or die "gcov: $!";
	foreach my $json (<$gcov>)
	{
		my $result = eval { decode_json($json) } or next;

		foreach my $file (@{ $result->{files} })
		{
			my $base = room($file->{file});

			next if !$text{$base};
			foreach my $line (@{ $file->{lines} })
			{
				my $n = $line->{line_number};
				my $i = 0;

				$lines{$base}{$n} += $line->{count};
				next if ($text{$base}[$n] // '') =~ /\b(ereport|elog)\(/;
				$branches{$base}{$n}{ ($line->{function_name} // '') . ' '
					  . $i++ } += $_->{count}
				  foreach @{ $line->{branches} };
			}
		}
	}
	close($gcov);
}

my %all = (lines => 0, hit => 0, branches => 0, taken => 0);

sub show
{
	my ($name, $c) = @_;

	printf "%-20s %5d of %5d lines %5.1f%%   %5d of %5d branches %5.1f%%\n",
	  $name, $c->{hit}, $c->{lines}, 100 * $c->{hit} / ($c->{lines} || 1),
	  $c->{taken}, $c->{branches}, 100 * $c->{taken} / ($c->{branches} || 1);
	return;
}

open(my $out, '>', $output) or die "$output: $!";
foreach my $file (sort keys %lines)
{
	my %c = (lines => 0, hit => 0, branches => 0, taken => 0);

	foreach my $n (sort { $a <=> $b } keys %{ $lines{$file} })
	{
		my @taken = values %{ $branches{$file}{$n} // {} };
		my $yes = grep { $_ > 0 } @taken;
		my $what;

		$c{lines}++;
		$c{branches} += @taken;
		$c{taken} += $yes;
		if ($lines{$file}{$n} > 0)
		{
			$c{hit}++;
			next if $yes == @taken;
			$what = $yes . '/' . @taken;
		}
		else
		{
			$what = '####';
		}
		printf $out "%s:%d: %s %s", $file, $n, $what, $text{$file}[$n] // "\n";
	}
	$all{$_} += $c{$_} foreach keys %all;
	show($file, \%c);
}
close($out);
show('all', \%all);
